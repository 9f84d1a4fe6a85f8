"""Which values of a study are missing or undefined, and why."""

from typing import NamedTuple

import pandas as pd

from heuristic_core.experiments.heuristic_core.analysis.effective_size import BOUNDED, state

SHOWN = 4  # subsets that are named before the rest is counted


class Gap(NamedTuple):
    """Null cells with one reason in common. what: the cells. where: model and step. count: how many cells."""

    table: str
    ft_seed: int
    step: int
    where: str
    what: str
    count: int
    reason: str


def gaps(accuracy: pd.DataFrame | None, sizes: pd.DataFrame | None) -> list[Gap]:
    """Null accuracies and effective sizes, from tables "accuracy" and "effective_size"; None for a table not there.

    A size that is a bound is not missing.
    """
    found = []
    if accuracy is not None:
        by = ["ft_seed", "step", "sparsity", "seed", "repeat"]
        found += [
            Gap("accuracy", ft_seed, step, _model(sparsity, seed, repeat), _some(rows["subset"]), len(rows), reason)
            for (ft_seed, step, sparsity, seed, repeat, reason), rows in _nulls(accuracy, "accuracy", by)
        ]
    if sizes is not None:
        by = ["ft_seed", "step", "group"]
        found += [
            Gap("effective size", ft_seed, step, group, _criteria(rows), len(rows), reason)
            for (ft_seed, step, group, reason), rows in _nulls(sizes[state(sizes) != BOUNDED], "effective_size", by)
        ]
    return found


def _nulls(table: pd.DataFrame, value: str, by: list[str]):
    nulls = table[table[value].isna()]
    nulls = nulls.assign(reason=nulls["reason"].fillna("no reason recorded"))
    return nulls.groupby([*by, "reason"], dropna=False, sort=False)


def _model(sparsity: float, seed, repeat) -> str:
    if sparsity == 0:
        return "full model"
    again = f", run {repeat + 1}" if repeat > 0 else ""
    return f"sparsity {sparsity:g}, seed {seed}{again}"


def _some(names: pd.Series) -> str:
    names = list(dict.fromkeys(names))
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


def _criteria(rows: pd.DataFrame) -> str:
    """Such as "accuracy 3, per-seed, mean-first; seeds 42, 43"."""
    parts = [
        f"{criterion} {', '.join(f'{threshold:g}' for threshold in sorted(set(of_it['threshold'])))}"
        for criterion, of_it in rows.groupby("criterion", sort=False)
    ]
    seeds = ", ".join(map(str, sorted(rows["seed"].dropna().unique())))
    return "; ".join([*parts, ", ".join(dict.fromkeys(rows["order"])), *([f"seeds {seeds}"] if seeds else [])])
