"""Choosing, ordering and averaging the rows that a figure shows."""

from collections.abc import Collection, Sequence

import pandas as pd

from heuristic_core.experiments.heuristic_core.analysis.accuracy import (
    AUC,
    ENTAILMENT,
    ID,
    OOD,
    J,
    both_sides,
    chosen,
    interval_of_j,
    interval_of_mean,
    j_means,
)
from heuristic_core.figures.rows import some

GROUPS = (ID, OOD, ENTAILMENT)
MEASURED = (*GROUPS, J, AUC)  # groups of rows without a subset
FAMILIES = ("lexical_overlap", "subsequence", "constituent")
CELL_MARKS = ["ft_seed", "step", "sparsity", "seed", "subset", "group", "n", "accuracy", "low", "high", "unit"]


def ft_seeds(rows: pd.DataFrame) -> list[int]:
    """The fine-tuning seeds in `rows`, ascending. Each has a panel of its own: they are never pooled."""
    return sorted(int(seed) for seed in rows["ft_seed"].unique())


def shown(settings, context) -> Sequence[str] | None:
    """The subsets a figure shows: its own, else the analysis's; None for all."""
    return settings.subsets or context.subsets


def groups_alone(settings) -> None:
    """Refuse a choice of subsets where only group means are shown, which have been taken already."""
    if settings.subsets is not None:
        raise ValueError("subsets cannot be chosen here: group means are those over analysis.subsets")


def subset_groups(rows: pd.DataFrame, subsets: Collection[str] | None) -> dict[str, str]:
    """Subset -> group, in the order of display: by group, then as `subsets` says or, without, by HANS family.

    Raises ValueError on a subset that no row has.
    """
    rows = chosen(rows.dropna(subset="subset"), subsets).drop_duplicates("subset")
    if subsets is None:
        within = rows["family"].map({family: k for k, family in enumerate(FAMILIES)}).fillna(len(FAMILIES))
    else:
        within = rows["subset"].map(list(subsets).index)
    rows = rows.assign(order=rows["group"].map(GROUPS.index), within=within)
    rows = rows.sort_values(["order", "within"], kind="stable")
    return dict(zip(rows["subset"], rows["group"], strict=True))


def full_model(accuracy: pd.DataFrame, step: int) -> pd.DataFrame:
    """The full model's rows of table "accuracy" or "group_accuracy" at fine-tuning step `step`."""
    return some(accuracy[(accuracy["step"] == step) & accuracy["seed"].isna()], f"full model at step {step}")


def subnetworks(accuracy: pd.DataFrame, step: int, sparsity: float, seeds: Collection[int]) -> pd.DataFrame:
    """The rows of one cell of the grid: the first runs of pruning seeds `seeds`, one step, one sparsity."""
    of_cell = (accuracy["step"] == step) & (accuracy["sparsity"] == sparsity) & accuracy["seed"].isin(list(seeds))
    return some(accuracy[of_cell & (accuracy["repeat"] == 0)], f"subnetworks at step {step}, sparsity {sparsity:g}")


def means(rows: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """The unweighted mean over the subsets of each `by`, with its interval: missing where a subset's value is."""
    found = []
    for key, subsets in rows.groupby(list(by)):
        low, high = interval_of_mean(subsets)
        value = {"accuracy": subsets["accuracy"].mean(skipna=False), "low": low, "high": high}
        found.append(dict(zip(by, key, strict=True)) | {"subsets": len(subsets)} | value)
    return pd.DataFrame(found)


def j_values(rows: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """J of each `by` with OOD and entailment subsets, and its interval, points: columns as of :func:`means`."""
    found = []
    for key, sides in both_sides(rows, by).groupby(list(by)):
        low, high = interval_of_j(sides)
        value = {"group": J, "accuracy": j_means(sides, by)["accuracy"].item(), "low": low, "high": high}
        found.append(dict(zip(by, key, strict=True)) | {"subsets": len(sides)} | value)
    return pd.DataFrame(found)
