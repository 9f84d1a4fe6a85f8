"""Tables 5 and 7: accuracies of subnetworks summarised over seeds, beside the full model."""

from collections.abc import Collection, Sequence

import pandas as pd

from heuristic_core.experiments.subnetworks.analysis.accuracy import J
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.experiments.subnetworks.figures.roles import ROLES
from heuristic_core.experiments.subnetworks.figures.rows import require_rows
from heuristic_core.figures.drawing import Tables
from heuristic_core.figures.sheets import Sheet
from heuristic_core.figures.text import format_interval, format_number, format_percent, format_seed
from heuristic_core.stats.seeds import FINE_TUNING_SEEDS, PRUNING_SEEDS

STATISTICS = ["min", "max", "mean", "sd", "low", "high", "n", "left_out"]
COLUMNS = ["over", "ft_seed", "step", "sparsity", "subset", "group", "full", "full_low", "full_high", *STATISTICS]
HEADINGS = ["sparsity", "full model", "min", "max", "mean", "sd", "95 % interval", "n"]


def join_full_model(
    full: pd.DataFrame,
    tables: Tables,
    key: str,
    order: Sequence[str],
    context: Context,
    sparsities: Collection[float],
) -> pd.DataFrame:
    """Join the rows of table "summary" at the last step with the full model's accuracy: the marks of both tables.

    If there are several fine-tuning seeds, rows over fine-tuning seeds come last. In these rows the full model's
    accuracy is a mean over fine-tuning seeds, with its interval.

    Args:
        full: The full model's rows of table "accuracy" or "group_accuracy".
        tables: Table "summary".
        key: "subset" or "group": what a row describes.
        order: The subsets or groups to show, in this order.
        context: The study's context.
        sparsities: The target sparsities to show, 0 to 1.
    """
    summary = tables["summary"]
    selected = (summary["step"] == context.last) & summary["sparsity"].isin(sparsities) & summary[key].isin(order)
    if key == "group":
        selected &= summary["subset"].isna()
    rows = require_rows(
        summary[selected], f"summary at step {context.last}, sparsity {', '.join(f'{s:g}' for s in sparsities)}"
    )
    full_values = full.rename(columns={"accuracy": "full", "low": "full_low", "high": "full_high"})
    full_values = full_values[["ft_seed", key, "full", "full_low", "full_high"]]
    parts = [rows[rows["over"] == PRUNING_SEEDS].merge(full_values, on=["ft_seed", key])]
    if full_values["ft_seed"].nunique() > 1:
        full_summary = summary[(summary["step"] == context.last) & (summary["sparsity"] == 0)]
        full_summary = full_summary[full_summary["subset"].isna() == (key == "group")]
        full_means = full_summary.rename(columns={"mean": "full", "low": "full_low", "high": "full_high"})
        full_means = full_means[[key, "full", "full_low", "full_high"]]
        parts.append(rows[rows["over"] == FINE_TUNING_SEEDS].merge(full_means, on=key))
    marks = pd.concat(parts).assign(place=lambda rows: rows[key].map(list(order).index))
    return marks.sort_values(["ft_seed", "sparsity", "place"], kind="stable", ignore_index=True)[COLUMNS]


def sheets(marks: pd.DataFrame) -> list[Sheet]:
    """Return a table for each fine-tuning seed, and one over fine-tuning seeds."""
    sheet_list = []
    unit = "accuracy and AUC in percent, J in points" if J in set(marks["group"]) else "accuracy in percent"
    for ft_seed, rows in marks.groupby("ft_seed", dropna=False):
        scope = "Over fine-tuning seeds" if pd.isna(ft_seed) else format_seed(ft_seed).capitalize()
        title = f"{scope}: {unit}, interval of the mean over {rows['over'].iloc[0]}"
        sheet_list.append(
            Sheet(title, [_key_column(marks), *HEADINGS], [_format_row(row) for row in rows.itertuples()])
        )
    return sheet_list


def _key_column(marks: pd.DataFrame) -> str:
    """Return "group" or "subset": what a row describes."""
    return "group" if marks["subset"].isna().all() else "subset"


def _format_row(row) -> list[str]:
    """Return the cells of one row as text."""
    name = ROLES[row.group].label if pd.isna(row.subset) else row.subset
    full = format_number(row.full, 2) + format_interval(row.full_low, row.full_high)
    values = [format_number(value, 2) for value in (row.min, row.max, row.mean, row.sd)]
    n = f"{row.n} ({row.left_out} faulty, left out)" if row.left_out else f"{row.n}"
    return [name, format_percent(row.sparsity), full, *values, format_interval(row.low, row.high).strip(), n]
