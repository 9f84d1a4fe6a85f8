"""Means of accuracy over the subsets of a group, and J, which weighs two groups against each other.

J = OOD + OOD-entailment - 100, in points: what of a model's accuracy on out-of-domain pairs is no mere rejection (or
acceptance) of every pair where the heuristic says entailment. It is Youden's index (1950): 100 for a perfect model, 0
for a model that gives one class to all pairs. J of a HANS family is the mean accuracy over its OOD subsets plus the
mean over its entailment subsets minus 100. J of a model is the mean over the families that have both. A task without
families is one family.
"""

from collections.abc import Collection, Sequence

import numpy as np
import pandas as pd

from heuristic_core.analysis.frames import frame
from heuristic_core.tables.columns import ABLATION, CELL, RUN, STEP

CELLS = [*RUN, *STEP, *CELL]
RULES = {"argmax-first": "correct", "merge-first": "correct_merged"}  # analysis.class_rule -> column of predictions
MODELS = [*CELLS, *ABLATION]  # columns that tell models apart
ID, OOD, ENTAILMENT = "id", "ood", "ood-entailment"  # groups of subsets
J, AUC = "j", "auc"  # groups of rows that are no mean over subsets: measures of OOD against entailment subsets
LABELS = {ID: "ID", OOD: "OOD", ENTAILMENT: "entailment", J: "J", AUC: "AUC"}
LEAST = {J: -100.0}  # what values of a group cannot be below, points or percent, where that is not 0; the most is 100


def chosen(rows: pd.DataFrame, subsets: Collection[str] | None) -> pd.DataFrame:
    """The rows of the named subsets; all rows where `subsets` is None.

    Raises ValueError, which names the existing subsets, on a subset that no row has.
    """
    if subsets is None:
        return rows
    existing = sorted(rows["subset"].dropna().unique())
    if unknown := [name for name in subsets if name not in existing]:
        raise ValueError(f"no subset {', '.join(map(repr, unknown))}; there are {', '.join(existing)}")
    return rows[rows["subset"].isin(list(subsets))]


def group_means(rows: pd.DataFrame, subsets: Collection[str] | None = None) -> pd.DataFrame:
    """Unweighted means over the subsets of each group, percent: every subset counts the same, whatever its size.

    rows: of a table with the columns of subsets and accuracies. subsets: the subsets that enter the means; default all.
    A mean over a missing value is missing. Group "j" is J, in points, of the models that have both its sides.
    Columns: the columns of `MODELS` that `rows` has, group, accuracy. Raises ValueError on an unknown subset.
    """
    rows = chosen(rows, subsets)
    keys = [name for name in MODELS if name in rows]
    return pd.concat([condensed(rows, [*keys, "group"], ["accuracy"]), j_means(rows, keys)], ignore_index=True)


def j_means(rows: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """J of each of `keys`, which tell models (or models and families) apart. Columns: keys, group, accuracy."""
    both = both_sides(rows, keys)
    sums = condensed(both.assign(accuracy=both["weight"] * both["accuracy"]), keys, ["accuracy"], "sum")
    return sums.assign(group=J, accuracy=sums["accuracy"] - 100)


def both_sides(rows: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """The rows of families that have OOD and entailment subsets, with the column `weight` of each in J.

    keys: columns that tell models apart; with "family" among them every family is by itself. The weights of a side add
    up to 1.
    """
    sides = rows[rows["group"].isin([OOD, ENTAILMENT])]
    # As text, for a null is a family, too: all subsets of a task without families.
    sides = sides.assign(of=sides["family"].astype(object).fillna(""), group=sides["group"].astype(object))
    by = {"dropna": False, "observed": True}
    sides = sides[sides.groupby([*keys, "of"], **by)["group"].transform("nunique") == 2]
    families = sides.groupby([*keys], **by)["of"].transform("nunique")
    subsets = sides.groupby([*keys, "of", "group"], **by)["subset"].transform("size")
    return sides.assign(weight=1 / (families * subsets))


def condensed(rows: pd.DataFrame, keys: Sequence[str], values: list[str], how: str = "mean") -> pd.DataFrame:
    """Unweighted means, or sums, of `values` by `keys`. A mean over a missing value is missing. Columns: both."""
    groups = rows.groupby([*keys], dropna=False)[values]
    # pandas leaves nulls out, which would compare models over different subsets.
    return groups.agg(how).where(groups.count().eq(groups.size(), axis="index")).reset_index()


def interval_of_mean(rows: pd.DataFrame) -> tuple[float, float]:
    """The interval of the unweighted mean over subsets, percent, from the interval of each; NaN where one is unknown.

    rows: columns accuracy, low and high, one row per subset. Subsets have different pairs. So their errors are
    independent, and half widths add up as squares (Newcombe 1998).
    """
    return interval_of_sum(rows, np.full(len(rows), 1 / len(rows)))


def interval_of_j(rows: pd.DataFrame) -> tuple[float, float]:
    """The interval of one model's J, points. rows: as :func:`both_sides` gives them, with columns low and high."""
    low, high = interval_of_sum(rows, rows["weight"])
    return max(low - 100, LEAST[J]), min(high - 100, 100)


def interval_of_sum(rows: pd.DataFrame, weights: Sequence[float]) -> tuple[float, float]:
    """The interval of the sum of accuracies times `weights`. rows: as of :func:`interval_of_mean`."""
    below, above = rows["accuracy"] - rows["low"], rows["high"] - rows["accuracy"]
    value = (weights * rows["accuracy"]).sum(skipna=False)
    reach = [np.sqrt(((weights * side) ** 2).sum(skipna=False)) for side in (below, above)]
    return value - reach[0], value + reach[1]


def group_accuracy_of(accuracy: pd.DataFrame, subsets: Collection[str] | None = None) -> pd.DataFrame:
    """Table "group_accuracy" without intervals, from table "accuracy": for studies that have no predictions."""
    rows = chosen(accuracy, subsets)
    return frame("group_accuracy", _compared(group_means(rows), rows))


def family_scores_of(accuracy: pd.DataFrame, subsets: Collection[str] | None = None) -> pd.DataFrame:
    """Table "family_scores" without intervals, from table "accuracy": J alone, as AUC needs predictions."""
    rows = chosen(accuracy, subsets)
    return frame("family_scores", _compared(j_means(rows, [*CELLS, "family"]), rows, ["family"]))


def _compared(values: pd.DataFrame, rows: pd.DataFrame, more: Sequence[str] = ()) -> pd.DataFrame:
    """`values` by model and group (and `more`) with the counts behind them, and the change from the full model."""
    keys, of_full = [*CELLS, *more, "group"], [*RUN, *STEP, *more, "group"]
    both = both_sides(rows, [*CELLS, *more]).assign(group=J)
    counts = pd.concat([rows, both]).groupby(keys, dropna=False, sort=False)
    counts = counts.agg(
        subsets=("subset", "nunique"),
        n=("n", lambda n: n.sum() if n.notna().all() else None),
        reason=("reason", lambda reasons: next((r for r in reasons if isinstance(r, str)), None)),
    )
    found = values.merge(counts.reset_index(), on=keys)
    full = found.loc[found["seed"].isna(), [*of_full, "accuracy"]].rename(columns={"accuracy": "of_full"})
    found = found.merge(full, on=of_full, how="left")
    return found.assign(change=found["accuracy"] - found["of_full"])
