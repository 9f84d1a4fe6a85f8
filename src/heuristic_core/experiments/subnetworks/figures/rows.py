"""Select, order and average the rows that a figure shows."""

from collections.abc import Collection, Sequence

import pandas as pd

from heuristic_core.config.figure import Figure
from heuristic_core.experiments.subnetworks.analysis.accuracy import (
    AUC,
    ENTAILMENT,
    ID,
    OOD,
    J,
    compute_j,
    compute_j_interval,
    compute_mean_interval,
    select_j_rows,
    select_subsets,
)
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.figures.rows import require_rows

GROUPS = (ID, OOD, ENTAILMENT)
SUMMARY_GROUPS = (*GROUPS, J, AUC)  # groups of rows without a subset
FAMILIES = ("lexical_overlap", "subsequence", "constituent")
CELL_MARKS = ["ft_seed", "step", "sparsity", "seed", "subset", "group", "n", "accuracy", "low", "high", "unit"]


def ft_seeds(rows: pd.DataFrame) -> list[int]:
    """Return the fine-tuning seeds in `rows`, ascending; figures show them separately, never pooled."""
    return sorted(int(seed) for seed in rows["ft_seed"].unique())


def resolve_subsets(settings: Figure, context: Context) -> Sequence[str] | None:
    """Return the subsets that a figure shows; None for all.

    Args:
        settings: Settings of the figure, which may choose subsets.
        context: The study's context, with the subsets of the analysis, which are shown otherwise.
    """
    return settings.subsets or context.subsets


def reject_subsets(settings: Figure) -> None:
    """Check that the settings choose no subsets: the figure shows group means, which are computed before.

    Raises:
        ValueError: If they do.
    """
    if settings.subsets is not None:
        raise ValueError("subsets cannot be chosen here: group means are over analysis.subsets")


def map_subset_groups(rows: pd.DataFrame, subsets: Collection[str] | None) -> dict[str, str]:
    """Map each subset to its group, in the order of display: by group, then by `subsets` or else by HANS family.

    Args:
        rows: Columns subset, group and family.
        subsets: Subsets to show, in this order; None for all.

    Raises:
        ValueError: If no row has one of `subsets`.
    """
    rows = select_subsets(rows.dropna(subset="subset"), subsets).drop_duplicates("subset")
    if subsets is None:
        within = rows["family"].map({family: k for k, family in enumerate(FAMILIES)}).fillna(len(FAMILIES))
    else:
        within = rows["subset"].map(list(subsets).index)
    rows = rows.assign(order=rows["group"].map(GROUPS.index), within=within)
    rows = rows.sort_values(["order", "within"], kind="stable")
    return dict(zip(rows["subset"], rows["group"], strict=True))


def select_full_model(accuracy: pd.DataFrame, step: int) -> pd.DataFrame:
    """Select the full model's rows at one step.

    Args:
        accuracy: Table "accuracy" or "group_accuracy".
        step: Step of fine-tuning.
    """
    return require_rows(accuracy[(accuracy["step"] == step) & accuracy["seed"].isna()], f"full model at step {step}")


def select_subnetworks(accuracy: pd.DataFrame, step: int, sparsity: float, seeds: Collection[int]) -> pd.DataFrame:
    """Select the rows of one cell of the grid: the first run of each pruning seed.

    Args:
        accuracy: Table "accuracy".
        step: Fine-tuning step.
        sparsity: Target share of removed components, 0-1.
        seeds: Pruning seeds.
    """
    in_cell = (accuracy["step"] == step) & (accuracy["sparsity"] == sparsity) & accuracy["seed"].isin(list(seeds))
    return require_rows(
        accuracy[in_cell & (accuracy["repeat"] == 0)], f"subnetworks at step {step}, sparsity {sparsity:g}"
    )


def average_subsets(rows: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Average over the subsets of each `by`, unweighted, with an interval; null if a subset's value is null.

    Args:
        rows: Rows with accuracy and its interval, percent, one for each subset.
        by: Columns that identify what is averaged.

    Returns:
        Columns `by`, "subsets" (their number), "accuracy", "low" and "high".
    """
    points = []
    for key, subsets in rows.groupby(list(by)):
        low, high = compute_mean_interval(subsets)
        value = {"accuracy": subsets["accuracy"].mean(skipna=False), "low": low, "high": high}
        points.append(dict(zip(by, key, strict=True)) | {"subsets": len(subsets)} | value)
    return pd.DataFrame(points)


def average_j(rows: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Compute J in points, with its interval, for each `by` that has OOD and entailment subsets.

    Args:
        rows: Rows of table "accuracy" or "finetune_accuracy".
        by: Columns that identify a point.

    Returns:
        Columns as of :func:`average_subsets`, and "group".
    """
    points = []
    for key, sides in select_j_rows(rows, by).groupby(list(by)):
        low, high = compute_j_interval(sides)
        value = {"group": J, "accuracy": compute_j(sides, by)["accuracy"].item(), "low": low, "high": high}
        points.append(dict(zip(by, key, strict=True)) | {"subsets": len(sides)} | value)
    return pd.DataFrame(points)
