"""Which core heads two studies of one model share, by identity (paper, section 4: MNLI's and QQP's)."""

from itertools import product
from typing import NamedTuple

import numpy as np
import pandas as pd

from heuristic_core.analysis.estimates import CannotSay
from heuristic_core.common.errors import InputError
from heuristic_core.experiments.heuristic_core.analysis.core import Masks, common_heads, run_masks
from heuristic_core.experiments.heuristic_core.analysis.evidence import Evidence


class SharedCore(NamedTuple):
    """Two fine-tuning runs, one of each study. names: of the heads that are in both cores.

    in_a, in_b: numbers of core heads. expected: the number in both if the heads of one core were drawn at random within
    each layer. p: of at least as many then (hypergeometric), None for a reason. halves: p is of disjoint pruning seeds.
    """

    ft_seed_a: int
    ft_seed_b: int
    in_a: int
    in_b: int
    names: list[str]
    expected: float
    p: float | None
    reason: str | None
    halves: bool = False


def shared_core(a: Evidence, b: Evidence) -> list[SharedCore]:
    """Every fine-tuning run of study a with every run of b. a, b: tables, of all runs.

    Runs of models that differ in name or in heads are left out: a head is the same only if it began as the same.
    Masks of one pruning seed share random draws, and agree by them where the model says little. So where both studies
    have pruning seeds in common, p is of the heads that one half of these share in a and the other half in b, each
    with the seeds that it alone has: twice the mean of both ways, which holds under any dependence (Rüschendorf
    1982). There is no p without table "components", nor of runs that are not sound.
    """
    heads_a, heads_b = ({int(run): rows for run, rows in _heads(one).groupby("ft_seed")} for one in (a, b))
    pairs = product(heads_a.items(), heads_b.items())
    alike = [pair for pair in pairs if _identity(pair[0][1]) == _identity(pair[1][1])]
    return [_shared((a, *one), (b, *other)) for one, other in alike]


def _reason(*sides: tuple[Evidence, int]) -> str | None:
    """Why the heads that two runs share have no p; None if they have one, and both are sound."""
    for evidence, ft_seed in sides:
        rows = {name: table[table["ft_seed"] == ft_seed] for name, table in evidence.tables.items()}
        try:
            Evidence(evidence.context, rows).sound("mid", "high")
        except CannotSay as reason:
            return f"fine-tuning seed {ft_seed}: {reason}"
    return None


def _heads(evidence: Evidence) -> pd.DataFrame:
    core = evidence.tables["core"]
    return core[core["kind"] == "head"].set_index("component").sort_index()


def _identity(heads: pd.DataFrame) -> list[list]:
    return heads.reset_index()[["model", "component", "layer"]].to_numpy().tolist()


def _shared(side_a: tuple[Evidence, int, pd.DataFrame], side_b: tuple[Evidence, int, pd.DataFrame]) -> SharedCore:
    """sides: evidence, fine-tuning seed, and the rows of its heads in table "core"."""
    (a, seed_a, heads_a), (b, seed_b, heads_b) = side_a, side_b
    in_a, in_b = (heads["in_core"].astype(bool) for heads in (heads_a, heads_b))
    common = common_heads(heads_a["layer"], in_a, in_b)
    names = heads_a.loc[in_a & in_b, "name"].tolist()
    reason, p = _reason((a, seed_a), (b, seed_b)), common.p
    seeds = sorted(set(a.context.seeds) & set(b.context.seeds))
    if seeds and not reason:
        p, reason = _of_halves(heads_a["layer"], (a, seed_a), (b, seed_b), seeds)
    p = None if reason else p
    return SharedCore(
        seed_a, seed_b, int(in_a.sum()), int(in_b.sum()), names, common.expected, p, reason, bool(seeds) and not reason
    )


def _of_halves(
    layers: pd.Series, side_a: tuple[Evidence, int], side_b: tuple[Evidence, int], seeds: list[int]
) -> tuple[float | None, str | None]:
    """p of heads that disjoint pruning seeds share, or why there is none: of a those that b lacks and one half of the
    common `seeds`, of b those that a lacks and the other half."""
    halves = seeds[::2], seeds[1::2]
    (alone_a, alone_b) = (sorted(set(evidence.context.seeds) - set(seeds)) for evidence, _ in (side_a, side_b))
    if not all("components" in evidence.tables for evidence, _ in (side_a, side_b)):
        return None, "both have pruning seeds in common, and a study has no table components"
    try:
        masks_a, masks_b = (_masks(*side) for side in (side_a, side_b))
        ways = [
            (_kept(masks_a, [*alone_a, *one]), _kept(masks_b, [*alone_b, *other]))
            for one, other in (halves, halves[::-1])
        ]
    except InputError as reason:
        return None, str(reason)
    p = [common_heads(layers, *(pd.Series(kept, layers.index) for kept in way)).p for way in ways]
    return min(1.0, sum(p)), None


def _masks(evidence: Evidence, ft_seed: int) -> Masks:
    rows = evidence.tables["components"]
    return run_masks(rows[rows["ft_seed"] == ft_seed], evidence.context)


def _kept(masks: Masks, seeds: list[int]) -> np.ndarray:
    """Whether all mid and high subnetworks of `seeds` keep a head: bool [heads]. Raises InputError without any."""
    of_seeds = [mask for cell in ("mid", "high") for seed, mask in masks[cell].items() if seed in seeds]
    if not of_seeds:
        raise InputError("there are too few pruning seeds to compare disjoint halves")
    return np.all(of_seeds, axis=0).ravel()
