"""Effective size by checkpoint, group and order, and how it depends on what counts as faithful."""

import pandas as pd

from heuristic_core.experiments.heuristic_core.figures.collapsed import count, with_counts
from heuristic_core.experiments.heuristic_core.figures.roles import ROLES
from heuristic_core.experiments.heuristic_core.figures.rows import ft_seeds, some
from heuristic_core.figures.sheets import Sheet
from heuristic_core.figures.text import number, seed_label

GROUPS = {group: ROLES[group].label for group in ("id", "ood", "ood-entailment", "j", "auc", "mixed-1:1", "mixed")}
ORDERS = ("per-seed", "mean-first", "upward")
CRITERIA = {
    "accuracy": "accuracy > full model's − {} points",
    "recovery": "accuracy ≥ {} % of the full model's",
    "agreement": "agreement with the full model ≥ {} %",
    "kl": "KL(full || subnetwork) ≤ {} nats",
}
COLUMNS = ["ft_seed", "step", "group", "criterion", "threshold", "order", "full_accuracy", "effective_size", "sd"]
COLUMNS += ["least", "most", "low", "high"]


def draw(tables, settings, context):
    """No figure. Marks: the summaries over seeds, one row per value; main: at the study's margin."""
    sizes = tables["effective_size"]
    sizes = some(sizes[sizes["seed"].isna()], "summary rows in table effective_size")
    main = (sizes["criterion"] == "accuracy") & (sizes["threshold"] == context.margin)
    some(sizes[main], f"rows at the margin of {context.margin:g} points in table effective_size")
    sizes = sizes.assign(main=main)[[*COLUMNS, "floor", "n_seeds", "reason", "main"]]
    return None, with_counts(sizes, tables, context.curve_seeds, context.curve_repeat, ["ft_seed", "step"])


def sheets(marks: pd.DataFrame) -> list[Sheet]:
    """Two tables for each fine-tuning seed: over checkpoints at the main margin, and over criteria at the last one."""
    found = []
    for ft_seed in ft_seeds(marks):
        of_seed = marks[marks["ft_seed"] == ft_seed]
        found += [_over_checkpoints(of_seed[of_seed["main"]]), _over_criteria(of_seed)]
    return found


def _over_checkpoints(rows: pd.DataFrame) -> Sheet:
    groups = _groups(rows)
    lines = [
        [count(step, at_step["collapsed"].max()), *(_in_orders(at_step, group) for group in groups)]
        for step, at_step in rows.groupby("step")
    ]
    title = f"{_whose(rows)}: {_criterion(*rows[['criterion', 'threshold']].iloc[0])}; {' / '.join(ORDERS)}"
    return Sheet(title, ["step", *(GROUPS[group] for group in groups)], lines)


def _over_criteria(rows: pd.DataFrame) -> Sheet:
    step = rows["step"].max()
    rows = rows[rows["step"] == step]
    groups = _groups(rows)
    lines = []
    for criterion in CRITERIA:
        for threshold, by_it in rows[rows["criterion"] == criterion].groupby("threshold"):
            lines.append([_criterion(criterion, threshold), *(_in_orders(by_it, group) for group in groups)])
    return Sheet(
        f"{_whose(rows)}, step {step}; {' / '.join(ORDERS)}", ["faithful", *(GROUPS[g] for g in groups)], lines
    )


def _whose(rows: pd.DataFrame) -> str:
    n = rows["n_seeds"].max()
    return f"{seed_label(rows['ft_seed'].iloc[0]).capitalize()}, percent of components ± sd over {n} pruning seeds"


def _criterion(name: str, threshold: float) -> str:
    return CRITERIA[name].format(f"{threshold:g}")


def _groups(rows: pd.DataFrame) -> list[str]:
    return [group for group in GROUPS if group in set(rows["group"])]


def _in_orders(rows: pd.DataFrame, group: str) -> str:
    """The cells of all orders; one word where none of them is a number and all say why alike."""
    cells = [_cell(rows[(rows["group"] == group) & (rows["order"] == order)]) for order in ORDERS]
    return cells[0] if set(cells) in ({"undefined"}, {"missing"}) else " / ".join(cells)


def _cell(rows: pd.DataFrame) -> str:
    """A size with its standard deviation, or what is known of it; else the word with which the reason begins."""
    if rows.empty:
        return "missing"
    row = rows.iloc[0]
    if pd.isna(row["effective_size"]):
        known = pd.notna(row["least"])
        return _bound(row["least"], row["most"]) if known else row["reason"].partition(":")[0]
    return number(row["effective_size"]) + (f" ± {number(row['sd'])}" if pd.notna(row["sd"]) else "")


def _bound(least: float, most: float) -> str:
    low, high = number(least), number(most)
    return f"≤ {high}" if least == 0 else f"> {low}" if most == 100 else f"{low} to {high}"
