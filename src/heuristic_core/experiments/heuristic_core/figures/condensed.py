"""Subnetworks condensed over seeds, beside the full model: what tables 5 and 7 show."""

from collections.abc import Sequence

import pandas as pd

from heuristic_core.analysis.seeds import FINE_TUNING_SEEDS, PRUNING_SEEDS
from heuristic_core.experiments.heuristic_core.analysis.accuracy import J
from heuristic_core.experiments.heuristic_core.figures.collapsed import count, with_counts
from heuristic_core.experiments.heuristic_core.figures.roles import ROLES
from heuristic_core.experiments.heuristic_core.figures.rows import some
from heuristic_core.figures.sheets import Sheet
from heuristic_core.figures.text import bracket, number, percent, seed_label

STATISTICS = ["min", "max", "mean", "sd", "low", "high", "n", "collapsed"]
COLUMNS = ["over", "ft_seed", "step", "sparsity", "subset", "group", "full", "full_low", "full_high", *STATISTICS]
HEADS = ["sparsity", "full model", "min", "max", "mean", "sd", "95 % interval", "n"]


def beside_full(full: pd.DataFrame, tables, key: str, order: Sequence[str], context, sparsities):
    """The rows of table "summary" at the last step, with the full model's accuracy: the marks of both tables.

    full: the full model's rows of table "accuracy" or "group_accuracy". tables: "summary", and "runs" where a study has
    it, of which column `collapsed` counts. key: "subset" or "group", what a row is of.
    order: the subsets or groups shown. Rows over fine-tuning seeds are below the others, where there are several;
    there the full model's accuracy is a mean, too, its interval Student's t.
    """
    summary = with_counts(tables["summary"], tables, context.seeds)
    here = (summary["step"] == context.last) & summary["sparsity"].isin(sparsities) & summary[key].isin(order)
    if key == "group":
        here &= summary["subset"].isna()
    rows = some(summary[here], f"summary at step {context.last}, sparsity {', '.join(f'{s:g}' for s in sparsities)}")
    known = full.rename(columns={"accuracy": "full", "low": "full_low", "high": "full_high"})
    known = known[["ft_seed", key, "full", "full_low", "full_high"]]
    parts = [rows[rows["over"] == PRUNING_SEEDS].merge(known, on=["ft_seed", key])]
    if known["ft_seed"].nunique() > 1:
        of_full = summary[(summary["step"] == context.last) & (summary["sparsity"] == 0)]
        of_full = of_full[of_full["subset"].isna() == (key == "group")]
        over = of_full.rename(columns={"mean": "full", "low": "full_low", "high": "full_high"})
        over = over[[key, "full", "full_low", "full_high"]]
        parts.append(rows[rows["over"] == FINE_TUNING_SEEDS].merge(over, on=key))
    marks = pd.concat(parts).assign(place=lambda rows: rows[key].map(list(order).index))
    return marks.sort_values(["ft_seed", "sparsity", "place"], kind="stable", ignore_index=True)[COLUMNS]


def sheets(marks: pd.DataFrame) -> list[Sheet]:
    """A table for each fine-tuning seed, and one over them."""
    found = []
    unit = "accuracy and AUC in percent, J in points" if J in set(marks["group"]) else "accuracy in percent"
    for ft_seed, rows in marks.groupby("ft_seed", dropna=False):
        whose = "Over fine-tuning seeds" if pd.isna(ft_seed) else seed_label(ft_seed).capitalize()
        title = f"{whose}: {unit}, interval of the mean over {rows['over'].iloc[0]}"
        found.append(Sheet(title, [_what(marks), *HEADS], [_cells(row) for row in rows.itertuples()]))
    return found


def _what(marks: pd.DataFrame) -> str:
    return "group" if marks["subset"].isna().all() else "subset"


def _cells(row) -> list[str]:
    name = ROLES[row.group].label if pd.isna(row.subset) else row.subset
    full = number(row.full, 2) + bracket(row.full_low, row.full_high)
    values = [number(value, 2) for value in (row.min, row.max, row.mean, row.sd)]
    n = count(row.n, row.collapsed)
    return [name, percent(row.sparsity), full, *values, bracket(row.low, row.high).strip(), n]
