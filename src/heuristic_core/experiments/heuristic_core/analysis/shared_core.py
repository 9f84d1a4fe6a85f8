"""Which core heads two studies of one model share, by identity (paper, section 4: MNLI's and QQP's)."""

from itertools import product
from typing import NamedTuple

import pandas as pd

from heuristic_core.experiments.heuristic_core.analysis.core import common_heads


class SharedCore(NamedTuple):
    """Two fine-tuning runs, one of each study. names: of the heads that are in both cores.

    in_a, in_b: numbers of core heads. expected: the number in both if the heads of one core were drawn at random within
    each layer. p: of at least as many then (hypergeometric).
    """

    ft_seed_a: int
    ft_seed_b: int
    in_a: int
    in_b: int
    names: list[str]
    expected: float
    p: float


def shared_core(a: pd.DataFrame, b: pd.DataFrame) -> list[SharedCore]:
    """Every fine-tuning run of study a with every run of b. a, b: tables "core".

    Runs of models that differ in name or in heads are left out: a head is the same only if it began as the same.
    """
    heads_a, heads_b = ({int(run): rows for run, rows in _heads(table).groupby("ft_seed")} for table in (a, b))
    pairs = product(heads_a.items(), heads_b.items())
    return [_shared(*run_a, *run_b) for run_a, run_b in pairs if _identity(run_a[1]) == _identity(run_b[1])]


def _heads(core: pd.DataFrame) -> pd.DataFrame:
    return core[core["kind"] == "head"].set_index("component").sort_index()


def _identity(heads: pd.DataFrame) -> list[list]:
    return heads.reset_index()[["model", "component", "layer"]].to_numpy().tolist()


def _shared(seed_a: int, a: pd.DataFrame, seed_b: int, b: pd.DataFrame) -> SharedCore:
    one, other = (heads["in_core"].astype(bool) for heads in (a, b))
    common = common_heads(a["layer"], one, other)
    names = a.loc[one & other, "name"].tolist()
    return SharedCore(seed_a, seed_b, int(one.sum()), int(other.sum()), names, common.expected, common.p)
