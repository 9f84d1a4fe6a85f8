"""Means of accuracy over the subsets of a group."""

from collections.abc import Collection

import numpy as np
import pandas as pd

from heuristic_core.analysis.frames import frame
from heuristic_core.tables.schemas import ABLATION, CELL, RUN, STEP

CELLS = [*RUN, *STEP, *CELL]
RULES = {"argmax-first": "correct", "merge-first": "correct_merged"}  # analysis.class_rule -> column of predictions
MODELS = [*CELLS, *ABLATION]  # columns that tell models apart


def chosen(rows: pd.DataFrame, subsets: Collection[str] | None) -> pd.DataFrame:
    """The rows of those subsets; all rows where `subsets` is None.

    Raises ValueError on a subset that no row has, naming those that exist.
    """
    if subsets is None:
        return rows
    existing = sorted(rows["subset"].dropna().unique())
    if unknown := [name for name in subsets if name not in existing]:
        raise ValueError(f"no subset {', '.join(map(repr, unknown))}; there are {', '.join(existing)}")
    return rows[rows["subset"].isin(list(subsets))]


def group_means(rows: pd.DataFrame, subsets: Collection[str] | None = None) -> pd.DataFrame:
    """Unweighted means over the subsets of each group, percent: every subset counts the same, whatever its size.

    rows: of a table with the columns of subsets and accuracies. subsets: those that enter the means; default all.
    A mean over a missing value is missing. Columns: those of `MODELS` that `rows` has, group, accuracy.
    Raises ValueError on an unknown subset.
    """
    keys = [*(name for name in MODELS if name in rows), "group"]
    by_group = chosen(rows, subsets).groupby(keys, dropna=False)
    values = by_group["accuracy"].agg(["size", "count", "mean"])
    # pandas leaves nulls out of a mean, which would compare models over different subsets.
    complete = values["mean"].where(values["count"] == values["size"])
    return complete.rename("accuracy").reset_index()


def interval_of_mean(rows: pd.DataFrame) -> tuple[float, float]:
    """The interval of the unweighted mean over subsets, percent, from each one's; NaN where one is unknown.

    rows: columns accuracy, low and high, one row per subset. Subsets have different pairs, so that their errors are
    independent and their half widths add up as squares.
    """
    below, above = rows["accuracy"] - rows["low"], rows["high"] - rows["accuracy"]
    mean = rows["accuracy"].mean(skipna=False)
    reach = [np.sqrt((side**2).sum(skipna=False)) / len(rows) for side in (below, above)]
    return mean - reach[0], mean + reach[1]


def group_accuracy_of(accuracy: pd.DataFrame, subsets: Collection[str] | None = None) -> pd.DataFrame:
    """Table "group_accuracy" without intervals, from table "accuracy": for studies that have no predictions."""
    rows = chosen(accuracy, subsets)
    by_group = rows.groupby([*CELLS, "group"], dropna=False, sort=False)
    counts = by_group.agg(
        subsets=("subset", "nunique"),
        n=("n", lambda n: n.sum() if n.notna().all() else None),
        reason=("reason", lambda reasons: next((r for r in reasons if isinstance(r, str)), None)),
    )
    means = group_means(rows).merge(counts.reset_index(), on=[*CELLS, "group"])
    full = means[means["seed"].isna()].set_index([*RUN, *STEP, "group"])["accuracy"]
    of_full = means.set_index([*RUN, *STEP, "group"]).index.map(full)
    return frame("group_accuracy", means.assign(change=means["accuracy"] - pd.Series(of_full, means.index)))
