"""Which core heads two studies of one model share, by identity (paper, section 4: MNLI's and QQP's)."""

from itertools import product
from typing import NamedTuple

import pandas as pd

from heuristic_core.analysis.estimates import CannotSay
from heuristic_core.experiments.heuristic_core.analysis.core import common_heads
from heuristic_core.experiments.heuristic_core.analysis.evidence import Evidence


class SharedCore(NamedTuple):
    """Two fine-tuning runs, one of each study. names: of the heads that are in both cores.

    in_a, in_b: numbers of core heads. expected: the number in both if the heads of one core were drawn at random within
    each layer. p: of at least as many then (hypergeometric), None for a reason.
    """

    ft_seed_a: int
    ft_seed_b: int
    in_a: int
    in_b: int
    names: list[str]
    expected: float
    p: float | None
    reason: str | None


def shared_core(a: Evidence, b: Evidence) -> list[SharedCore]:
    """Every fine-tuning run of study a with every run of b. a, b: tables, of all runs.

    Runs of models that differ in name or in heads are left out: a head is the same only if it began as the same.
    There is no p where both studies have a pruning seed in common, as masks of one seed share random draws and agree
    by them where the model says little; nor of runs that are not sound.
    """
    heads_a, heads_b = ({int(run): rows for run, rows in _heads(one).groupby("ft_seed")} for one in (a, b))
    pairs = product(heads_a.items(), heads_b.items())
    alike = [pair for pair in pairs if _identity(pair[0][1]) == _identity(pair[1][1])]
    reasons = [_reason((a, one[0]), (b, other[0])) for one, other in alike]
    return [_shared(*one, *other, reason) for (one, other), reason in zip(alike, reasons, strict=True)]


def _reason(*sides: tuple[Evidence, int]) -> str | None:
    """Why the heads that two runs share have no p; None if they have one."""
    for evidence, ft_seed in sides:
        rows = {name: table[table["ft_seed"] == ft_seed] for name, table in evidence.tables.items()}
        try:
            Evidence(evidence.context, rows).sound("mid", "high")
        except CannotSay as reason:
            return f"fine-tuning seed {ft_seed}: {reason}"
    seeds = set(sides[0][0].context.seeds) & set(sides[1][0].context.seeds)
    if seeds:
        named = ", ".join(map(str, sorted(seeds)))
        return f"pruning seeds {named} are in both, and masks of one seed share random draws; give other grid.seeds"
    return None


def _heads(evidence: Evidence) -> pd.DataFrame:
    core = evidence.tables["core"]
    return core[core["kind"] == "head"].set_index("component").sort_index()


def _identity(heads: pd.DataFrame) -> list[list]:
    return heads.reset_index()[["model", "component", "layer"]].to_numpy().tolist()


def _shared(seed_a: int, a: pd.DataFrame, seed_b: int, b: pd.DataFrame, reason: str | None) -> SharedCore:
    one, other = (heads["in_core"].astype(bool) for heads in (a, b))
    common = common_heads(a["layer"], one, other)
    names = a.loc[one & other, "name"].tolist()
    p = None if reason else common.p
    return SharedCore(seed_a, seed_b, int(one.sum()), int(other.sum()), names, common.expected, p, reason)
