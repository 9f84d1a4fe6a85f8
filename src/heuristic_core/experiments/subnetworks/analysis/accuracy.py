"""Compute mean accuracies over the subsets of a group, and J, which combines two groups.

J = OOD + OOD-entailment - 100, in points. It measures how well a model tells apart the out-of-domain pairs where the
heuristic always predicts entailment; rejecting or accepting all of them gives 0, a perfect model has 100 (Youden's
index, 1950). J of a HANS family is the mean accuracy over its OOD subsets plus the mean over its entailment subsets
minus 100. J of a model is the mean over the families that have both. A task without families counts as one family.
"""

from collections.abc import Collection, Sequence

import numpy as np
import pandas as pd

from heuristic_core.stats.frames import make_frame
from heuristic_core.tables.columns import ABLATION, CELL, RUN, STEP

CELL_KEYS = [*RUN, *STEP, *CELL]
RULES = {"argmax-first": "correct", "merge-first": "correct_merged"}  # analysis.class_rule -> column of predictions
MODEL_KEYS = [*CELL_KEYS, *ABLATION]  # columns that identify a model
ID, OOD, ENTAILMENT = "id", "ood", "ood-entailment"  # groups of subsets
J, AUC = "j", "auc"  # groups of rows that compare OOD with entailment subsets instead of averaging subsets
LABELS = {ID: "ID", OOD: "OOD", ENTAILMENT: "entailment", J: "J", AUC: "AUC"}
MIN_VALUES = {J: -100.0}  # smallest possible value by group, points, where it is not 0; the largest is always 100


def select_subsets(rows: pd.DataFrame, subsets: Collection[str] | None) -> pd.DataFrame:
    """Select the rows of some subsets.

    Args:
        rows: A table with a column subset.
        subsets: Names of the subsets; None for all rows.

    Raises:
        ValueError: If no row has one of `subsets`.
    """
    if subsets is None:
        return rows
    existing = sorted(rows["subset"].dropna().unique())
    if unknown := [name for name in subsets if name not in existing]:
        raise ValueError(f"unknown subset {', '.join(map(repr, unknown))}; choose from {', '.join(existing)}")
    return rows[rows["subset"].isin(list(subsets))]


def compute_group_means(rows: pd.DataFrame, subsets: Collection[str] | None = None) -> pd.DataFrame:
    """Compute unweighted means over the subsets of each group, percent, whatever the sizes of the subsets.

    Args:
        rows: Rows of a table with the columns of subsets and accuracies.
        subsets: Subsets that enter the means; None for all.

    Returns:
        The columns of `MODEL_KEYS` that `rows` has, group and accuracy. A mean over a missing value is missing. Group
        "j" is J, in points, of the models with OOD and entailment subsets.

    Raises:
        ValueError: If a subset is unknown.
    """
    rows = select_subsets(rows, subsets)
    keys = [name for name in MODEL_KEYS if name in rows]
    return pd.concat([aggregate(rows, [*keys, "group"], ["accuracy"]), compute_j(rows, keys)], ignore_index=True)


def compute_j(rows: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Compute J, points, of each model (or model and family) that the columns `keys` identify.

    Args:
        rows: Rows of table "accuracy" or of one like it.
        keys: The columns.

    Returns:
        The columns `keys`, group and accuracy.
    """
    sides = select_j_rows(rows, keys)
    sums = aggregate(sides.assign(accuracy=sides["weight"] * sides["accuracy"]), keys, ["accuracy"], "sum")
    return sums.assign(group=J, accuracy=sums["accuracy"] - 100)


def select_j_rows(rows: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Select the rows of families with OOD and entailment subsets, and add the column `weight`, their weight in J.

    The weights of each side sum to 1.

    Args:
        rows: Rows with the columns subset, group and family.
        keys: Columns that identify a model; with "family" among them, each family is weighted separately.
    """
    sides = rows[rows["group"].isin([OOD, ENTAILMENT])]
    # A null is a family too: all subsets of a task without families.
    sides = sides.assign(family_key=sides["family"].astype(object).fillna(""), group=sides["group"].astype(object))
    by = {"dropna": False, "observed": True}
    sides = sides[sides.groupby([*keys, "family_key"], **by)["group"].transform("nunique") == 2]
    families = sides.groupby([*keys], **by)["family_key"].transform("nunique")
    subsets = sides.groupby([*keys, "family_key", "group"], **by)["subset"].transform("size")
    return sides.assign(weight=1 / (families * subsets))


def aggregate(rows: pd.DataFrame, keys: Sequence[str], values: list[str], how: str = "mean") -> pd.DataFrame:
    """Aggregate columns as unweighted means or sums; missing values make the result missing.

    Args:
        rows: Rows with the columns `keys` and `values`.
        keys: Columns to group by; null is a group too.
        values: Columns to aggregate.
        how: "mean" or "sum".

    Returns:
        One row per group, with the columns `keys` and `values`.
    """
    groups = rows.groupby([*keys], dropna=False)[values]
    # pandas skips nulls, which would compare models over different subsets.
    return groups.agg(how).where(groups.count().eq(groups.size(), axis="index")).reset_index()


def compute_mean_interval(rows: pd.DataFrame) -> tuple[float, float]:
    """Compute the interval of the unweighted mean over subsets, percent, from the intervals of the subsets.

    Subsets have different pairs, so their errors are independent, and squared half widths add up (Newcombe 1998).

    Args:
        rows: Columns accuracy, low and high, one row per subset.

    Returns:
        Lower and upper end; NaN if the interval of a subset is unknown.
    """
    return _weighted_sum_interval(rows, np.full(len(rows), 1 / len(rows)))


def compute_j_interval(rows: pd.DataFrame) -> tuple[float, float]:
    """Compute the interval of one model's J, points, from rows of :func:`select_j_rows` with columns low and high."""
    low, high = _weighted_sum_interval(rows, rows["weight"])
    return max(low - 100, MIN_VALUES[J]), min(high - 100, 100)


def _weighted_sum_interval(rows: pd.DataFrame, weights: Sequence[float]) -> tuple[float, float]:
    """Compute the interval of the weighted sum of accuracies; rows as in :func:`compute_mean_interval`."""
    below, above = rows["accuracy"] - rows["low"], rows["high"] - rows["accuracy"]
    value = (weights * rows["accuracy"]).sum(skipna=False)
    half_widths = [np.sqrt(((weights * side) ** 2).sum(skipna=False)) for side in (below, above)]
    return value - half_widths[0], value + half_widths[1]


def compute_group_accuracy(accuracy: pd.DataFrame, subsets: Collection[str] | None = None) -> pd.DataFrame:
    """Compute table "group_accuracy" without intervals from table "accuracy", for studies without predictions.

    Args:
        accuracy: Table "accuracy".
        subsets: Subsets that enter means; None for all.
    """
    rows = select_subsets(accuracy, subsets)
    return make_frame("group_accuracy", _add_counts_and_changes(compute_group_means(rows), rows))


def compute_family_scores(accuracy: pd.DataFrame, subsets: Collection[str] | None = None) -> pd.DataFrame:
    """Compute table "family_scores" without intervals from table "accuracy": only J, because AUC needs predictions.

    Args:
        accuracy: Table "accuracy".
        subsets: Subsets that enter means; None for all.
    """
    rows = select_subsets(accuracy, subsets)
    return make_frame(
        "family_scores", _add_counts_and_changes(compute_j(rows, [*CELL_KEYS, "family"]), rows, ["family"])
    )


def _add_counts_and_changes(values: pd.DataFrame, rows: pd.DataFrame, more: Sequence[str] = ()) -> pd.DataFrame:
    """Add counts of subsets and pairs, and changes from the full model, to `values` by model, group and `more`."""
    keys, full_keys = [*CELL_KEYS, *more, "group"], [*RUN, *STEP, *more, "group"]
    j_rows = select_j_rows(rows, [*CELL_KEYS, *more]).assign(group=J)
    counts = pd.concat([rows, j_rows]).groupby(keys, dropna=False, sort=False)
    counts = counts.agg(
        subsets=("subset", "nunique"),
        n=("n", lambda n: n.sum() if n.notna().all() else None),
        reason=("reason", lambda reasons: next((r for r in reasons if isinstance(r, str)), None)),
    )
    table = values.merge(counts.reset_index(), on=keys)
    full = table.loc[table["seed"].isna(), [*full_keys, "accuracy"]].rename(columns={"accuracy": "full_accuracy"})
    table = table.merge(full, on=full_keys, how="left")
    return table.assign(change=table["accuracy"] - table["full_accuracy"])
