"""Core heads that two studies of one model share, by identity (paper, section 4: MNLI and QQP)."""

from itertools import product
from typing import NamedTuple

import numpy as np
import pandas as pd

from heuristic_core.common.errors import InputError
from heuristic_core.experiments.subnetworks.analysis.core import Masks, collect_run_masks, count_common_heads
from heuristic_core.experiments.subnetworks.analysis.evidence import Evidence
from heuristic_core.stats.estimates import NotComputable


class SharedCore(NamedTuple):
    """Core heads that two fine-tuning runs share, one run of each study.

    Attributes:
        ft_seed_a: Fine-tuning seed of study a.
        ft_seed_b: Fine-tuning seed of study b.
        core_size_a: Number of core heads in a.
        core_size_b: Number of core heads in b.
        names: Heads that are in both cores.
        expected: Expected number in both if one core's heads were drawn at random within each layer.
        p: p of at least as many by chance (hypergeometric); None for a reason.
        reason: Why p is missing; None otherwise.
        disjoint_seeds: Whether p compares disjoint pruning seeds.
    """

    ft_seed_a: int
    ft_seed_b: int
    core_size_a: int
    core_size_b: int
    names: list[str]
    expected: float
    p: float | None
    reason: str | None
    disjoint_seeds: bool = False


def compute_shared_core(a: Evidence, b: Evidence) -> list[SharedCore]:
    """Compare the cores of each fine-tuning run of study a with each run of study b.

    Runs of models that differ in name or in heads are left out: heads correspond only if they began with equal weights.
    Masks of one pruning seed share random draws, and agree because of these where the model has little influence. If
    the studies have pruning seeds in common, p therefore compares the heads that one half of these seeds shares in a
    with those that the other half shares in b, each with the seeds that only its study has. It is twice the mean of
    both assignments of halves, which holds under any dependence (Rüschendorf 1982). There is no p without table
    "components", nor for runs that are not sound.

    Args:
        a: Tables of all runs of one study.
        b: Tables of all runs of the other study.

    Returns:
        A comparison for each pair of runs.
    """
    heads_a, heads_b = ({int(run): rows for run, rows in _heads(evidence).groupby("ft_seed")} for evidence in (a, b))
    pairs = product(heads_a.items(), heads_b.items())
    matching = [pair for pair in pairs if _head_keys(pair[0][1]) == _head_keys(pair[1][1])]
    return [_compare_runs((a, *run_a), (b, *run_b)) for run_a, run_b in matching]


def _unsound_reason(*sides: tuple[Evidence, int]) -> str | None:
    """Return why shared heads have no p; None if both runs are sound."""
    for evidence, ft_seed in sides:
        rows = {name: table[table["ft_seed"] == ft_seed] for name, table in evidence.tables.items()}
        try:
            Evidence(evidence.context, rows).require_sound("mid", "high")
        except NotComputable as reason:
            return f"fine-tuning seed {ft_seed}: {reason}"
    return None


def _heads(evidence: Evidence) -> pd.DataFrame:
    """Return the heads of table "core" by component index."""
    core = evidence.tables["core"]
    return core[core["kind"] == "head"].set_index("component").sort_index()


def _head_keys(heads: pd.DataFrame) -> list[list]:
    """Return what must be equal for heads of two runs to correspond."""
    return heads.reset_index()[["model", "component", "layer"]].to_numpy().tolist()


def _compare_runs(side_a: tuple[Evidence, int, pd.DataFrame], side_b: tuple[Evidence, int, pd.DataFrame]) -> SharedCore:
    """Compare two runs. side_a, side_b: evidence, fine-tuning seed, and rows of the run's heads in table "core"."""
    (a, seed_a, heads_a), (b, seed_b, heads_b) = side_a, side_b
    in_a, in_b = (heads["in_core"].astype(bool) for heads in (heads_a, heads_b))
    common = count_common_heads(heads_a["layer"], in_a, in_b)
    names = heads_a.loc[in_a & in_b, "name"].tolist()
    reason, p = _unsound_reason((a, seed_a), (b, seed_b)), common.p
    seeds = sorted(set(a.context.seeds) & set(b.context.seeds))
    if seeds and not reason:
        p, reason = _compare_halves(heads_a["layer"], (a, seed_a), (b, seed_b), seeds)
    p = None if reason else p
    return SharedCore(
        seed_a, seed_b, int(in_a.sum()), int(in_b.sum()), names, common.expected, p, reason, bool(seeds) and not reason
    )


def _compare_halves(
    layers: pd.Series, side_a: tuple[Evidence, int], side_b: tuple[Evidence, int], seeds: list[int]
) -> tuple[float | None, str | None]:
    """Return the p of heads that disjoint pruning seeds share, or the reason for its absence.

    Study a has the seeds that b lacks and one half of the common `seeds`, study b the seeds that a lacks and the other
    half.
    """
    halves = seeds[::2], seeds[1::2]
    (only_a, only_b) = (sorted(set(evidence.context.seeds) - set(seeds)) for evidence, _ in (side_a, side_b))
    if not all("components" in evidence.tables for evidence, _ in (side_a, side_b)):
        return None, "both have pruning seeds in common, and a study has no table components"
    try:
        masks_a, masks_b = (_masks(*side) for side in (side_a, side_b))
        kept_heads = [
            (_kept_by_all(masks_a, [*only_a, *half_a]), _kept_by_all(masks_b, [*only_b, *half_b]))
            for half_a, half_b in (halves, halves[::-1])
        ]
    except InputError as reason:
        return None, str(reason)
    p = [
        count_common_heads(layers, *(pd.Series(kept, layers.index) for kept in kept_pair)).p for kept_pair in kept_heads
    ]
    return min(1.0, sum(p)), None


def _masks(evidence: Evidence, ft_seed: int) -> Masks:
    """Return the masks of one fine-tuning run."""
    rows = evidence.tables["components"]
    return collect_run_masks(rows[rows["ft_seed"] == ft_seed], evidence.context)


def _kept_by_all(masks: Masks, seeds: list[int]) -> np.ndarray:
    """Return whether all mid and high subnetworks of `seeds` keep a head, bool [heads]; InputError without any."""
    selected = [mask for cell in ("mid", "high") for seed, mask in masks[cell].items() if seed in seeds]
    if not selected:
        raise InputError("table components: too few pruning seeds for disjoint halves; set two or more in grid.seeds")
    return np.all(selected, axis=0).ravel()
