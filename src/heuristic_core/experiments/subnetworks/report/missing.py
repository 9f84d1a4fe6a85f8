"""Which values of a study are missing or undefined, and why."""

from typing import NamedTuple

import pandas as pd

from heuristic_core.experiments.subnetworks.analysis.size_states import BOUNDED, classify_sizes

MAX_NAMED = 4  # subsets named in a cell; the rest is counted


class Gap(NamedTuple):
    """Null cells of a table that share one reason.

    Attributes:
        table: The kind of value, such as "accuracy".
        ft_seed: The fine-tuning seed.
        step: The fine-tuning step.
        where: The model, or the group of an effective size.
        what: The subsets, or the criteria and orders.
        count: The number of null cells.
        reason: Why they are null.
    """

    table: str
    ft_seed: int
    step: int
    where: str
    what: str
    count: int
    reason: str


def collect_gaps(accuracy: pd.DataFrame | None, sizes: pd.DataFrame | None) -> list[Gap]:
    """Collect null accuracies and effective sizes; a size that is a bound is not missing.

    Args:
        accuracy: Table "accuracy"; None if the study lacks it.
        sizes: Table "effective_size"; None if the study lacks it.
    """
    gap_list = []
    if accuracy is not None:
        by = ["ft_seed", "step", "sparsity", "seed", "repeat"]
        gap_list += [
            Gap(
                "accuracy",
                ft_seed,
                step,
                _describe_model(sparsity, seed, repeat),
                _shorten_names(rows["subset"]),
                len(rows),
                reason,
            )
            for (ft_seed, step, sparsity, seed, repeat, reason), rows in _group_nulls(accuracy, "accuracy", by)
        ]
    if sizes is not None:
        by = ["ft_seed", "step", "group"]
        gap_list += [
            Gap("effective size", ft_seed, step, group, _describe_criteria(rows), len(rows), reason)
            for (ft_seed, step, group, reason), rows in _group_nulls(
                sizes[classify_sizes(sizes) != BOUNDED], "effective_size", by
            )
        ]
    return gap_list


def _group_nulls(table: pd.DataFrame, value: str, by: list[str]):
    """Group the rows in which column `value` is null by the columns `by` and the reason."""
    nulls = table[table[value].isna()]
    nulls = nulls.assign(reason=nulls["reason"].fillna("no reason recorded"))
    return nulls.groupby([*by, "reason"], dropna=False, sort=False)


def _describe_model(sparsity: float, seed, repeat) -> str:
    """Describe a model, as in "sparsity 0.4, seed 42, run 2"."""
    if sparsity == 0:
        return "full model"
    run = f", run {repeat + 1}" if repeat > 0 else ""
    return f"sparsity {sparsity:g}, seed {seed}{run}"


def _shorten_names(names: pd.Series) -> str:
    """Join the first names and count the rest."""
    names = list(dict.fromkeys(names))
    more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
    return ", ".join(names[:MAX_NAMED]) + more


def _describe_criteria(rows: pd.DataFrame) -> str:
    """Describe criteria, orders and seeds, as in "accuracy 3, per-seed, mean-first; seeds 42, 43"."""
    parts = [
        f"{criterion} {', '.join(f'{threshold:g}' for threshold in sorted(set(criterion_rows['threshold'])))}"
        for criterion, criterion_rows in rows.groupby("criterion", sort=False)
    ]
    seeds = ", ".join(map(str, sorted(rows["seed"].dropna().unique())))
    return "; ".join([*parts, ", ".join(dict.fromkeys(rows["order"])), *([f"seeds {seeds}"] if seeds else [])])
