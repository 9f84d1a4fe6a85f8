"""Effective size by checkpoint, group and order, and by the criterion for a faithful subnetwork."""

import pandas as pd

from heuristic_core.common.errors import format_points
from heuristic_core.config.figure import Figure
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.experiments.subnetworks.figures.collapsed import add_collapsed_counts, format_count
from heuristic_core.experiments.subnetworks.figures.roles import ROLES
from heuristic_core.experiments.subnetworks.figures.rows import ft_seeds, require_rows
from heuristic_core.figures.drawing import Drawing, Tables
from heuristic_core.figures.sheets import Sheet
from heuristic_core.figures.text import format_number, format_seed

GROUPS = {group: ROLES[group].label for group in ("id", "ood", "ood-entailment", "j", "auc", "mixed-1:1", "mixed")}
ORDERS = ("per-seed", "mean-first", "upward")
CRITERIA = {
    "accuracy": "accuracy > full model's − {}",
    "recovery": "accuracy ≥ {} % of the full model's",
    "agreement": "agreement with the full model ≥ {} %",
    "kl": "KL(full || subnetwork) ≤ {} nats",
}
COLUMNS = ["ft_seed", "step", "group", "criterion", "threshold", "order", "full_accuracy", "effective_size", "sd"]
COLUMNS += ["least", "most", "low", "high"]


def draw(tables: Tables, settings: Figure, context: Context) -> Drawing:
    """Return no figure, and marks: summaries over seeds, one row per value; `main` marks the study's margin.

    Args:
        tables: Data frames by schema name: "effective_size", and "runs" if the study has it.
        settings: Not used; every target takes it.
        context: The study's ``config.context.Context``.
    """
    sizes = tables["effective_size"]
    sizes = require_rows(sizes[sizes["seed"].isna()], "summary rows in table effective_size")
    main = (sizes["criterion"] == "accuracy") & (sizes["threshold"] == context.margin)
    require_rows(sizes[main], f"rows at the margin of {context.margin:g} points in table effective_size")
    sizes = sizes.assign(main=main)[[*COLUMNS, "floor", "n_seeds", "reason", "main"]]
    return None, add_collapsed_counts(sizes, tables, context.curve_seeds, context.curve_repeat, ["ft_seed", "step"])


def sheets(marks: pd.DataFrame) -> list[Sheet]:
    """Return two tables for each fine-tuning seed: checkpoints at the main margin, criteria at the last checkpoint."""
    sheet_list = []
    for ft_seed in ft_seeds(marks):
        seed_marks = marks[marks["ft_seed"] == ft_seed]
        sheet_list += [_make_checkpoint_sheet(seed_marks[seed_marks["main"]]), _make_criterion_sheet(seed_marks)]
    return sheet_list


def _make_checkpoint_sheet(rows: pd.DataFrame) -> Sheet:
    """Return the table of sizes by checkpoint."""
    groups = _present_groups(rows)
    lines = [
        [format_count(step, at_step["collapsed"].max()), *(_join_orders(at_step, group) for group in groups)]
        for step, at_step in rows.groupby("step")
    ]
    title = (
        f"{_describe_seeds(rows)}: {_format_criterion(*rows[['criterion', 'threshold']].iloc[0])}; {' / '.join(ORDERS)}"
    )
    return Sheet(title, ["step", *(GROUPS[group] for group in groups)], lines)


def _make_criterion_sheet(rows: pd.DataFrame) -> Sheet:
    """Return the table of sizes by criterion at the last checkpoint."""
    step = rows["step"].max()
    rows = rows[rows["step"] == step]
    groups = _present_groups(rows)
    lines = []
    for criterion in CRITERIA:
        for threshold, threshold_rows in rows[rows["criterion"] == criterion].groupby("threshold"):
            lines.append(
                [_format_criterion(criterion, threshold), *(_join_orders(threshold_rows, group) for group in groups)]
            )
    return Sheet(
        f"{_describe_seeds(rows)}, step {step}; {' / '.join(ORDERS)}", ["faithful", *(GROUPS[g] for g in groups)], lines
    )


def _describe_seeds(rows: pd.DataFrame) -> str:
    """Return the beginning of a title: fine-tuning seed, unit and number of pruning seeds."""
    n = rows["n_seeds"].max()
    return f"{format_seed(rows['ft_seed'].iloc[0]).capitalize()}, percent of components ± sd over {n} pruning seeds"


def _format_criterion(name: str, threshold: float) -> str:
    """Return the criterion as a formula."""
    return CRITERIA[name].format(format_points(threshold) if name == "accuracy" else f"{threshold:g}")


def _present_groups(rows: pd.DataFrame) -> list[str]:
    """Return the groups in `rows`, in the order of `GROUPS`."""
    return [group for group in GROUPS if group in set(rows["group"])]


def _join_orders(rows: pd.DataFrame, group: str) -> str:
    """Join the cells of all orders; return one word if all are undefined or all are missing."""
    cells = [_format_size(rows[(rows["group"] == group) & (rows["order"] == order)]) for order in ORDERS]
    return cells[0] if set(cells) in ({"undefined"}, {"missing"}) else " / ".join(cells)


def _format_size(rows: pd.DataFrame) -> str:
    """Format a size ± sd, or its bounds, or else the first word of the reason why it is null."""
    if rows.empty:
        return "missing"
    row = rows.iloc[0]
    if pd.isna(row["effective_size"]):
        has_bounds = pd.notna(row["least"])
        return _format_bounds(row["least"], row["most"]) if has_bounds else row["reason"].partition(":")[0]
    return format_number(row["effective_size"]) + (f" ± {format_number(row['sd'])}" if pd.notna(row["sd"]) else "")


def _format_bounds(least: float, most: float) -> str:
    """Format the bounds of a size in percent."""
    low, high = format_number(least), format_number(most)
    return f"≤ {high}" if least == 0 else f"> {low}" if most == 100 else f"{low} to {high}"
