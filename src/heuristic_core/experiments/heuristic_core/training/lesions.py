"""Which heads a lesioned run is fine-tuned without: the overlap heads, or as many random heads of the same layers."""

import re
from collections.abc import Mapping, Sequence
from math import comb, prod

import torch

from heuristic_core.common.errors import InputError
from heuristic_core.common.seeds import torch_generator
from heuristic_core.experiments.heuristic_core.config.lesion import OVERLAP

NAMES = rf"{OVERLAP}|random[1-9]\d*"


class NoLesion(Exception):
    """There is no such set of heads; the message says why."""


def lesioned(name: str, heads: Sequence[Mapping], seed: int, ft_seed: int) -> list[int]:
    """The component indices, ascending, of lesion `name`: "overlap", or "random<k>", the k-th random set.

    heads: all rows of table `overlap_heads` of the run. seed: setting `analysis.seed`.
    A random set has, in every layer, as many heads as there are overlap heads, none of them one; all others where these
    are fewer. Random sets differ, and the k-th is the same however many are drawn.
    Raises NoLesion where no head or every one is an overlap head, or where there are fewer than k random sets.
    """
    if not re.fullmatch(NAMES, name):
        raise InputError(f"lesion = {name!r}; there are {OVERLAP}, random1, random2 and so on")
    overlap = [row["component"] for row in heads if row["overlap"]]
    if len(overlap) in (0, len(heads)):
        raise NoLesion(f"{'every' if overlap else 'no'} head is an overlap head (see analysis.overlap_times_uniform)")
    if name == OVERLAP:
        return sorted(overlap)
    pools, draw = _pools(heads), int(name.removeprefix("random"))
    if not pools:
        raise NoLesion("every head in the layers of the overlap heads is one of them")
    if draw > (there_are := prod(comb(len(pool), count) for pool, count in pools)):
        raise NoLesion(f"in the layers of the overlap heads there are {there_are} random sets of as many others")
    return _distinct(pools, draw, torch_generator("lesion", seed, ft_seed))[-1]


def _pools(heads: Sequence[Mapping]) -> list[tuple[list[int], int]]:
    """For each layer with overlap heads and others: the others, and how many of them a random set has."""
    found = []
    for layer in sorted({row["layer"] for row in heads}):
        own = [row for row in heads if row["layer"] == layer]
        others = sorted(row["component"] for row in own if not row["overlap"])
        if count := min(len(others), len(own) - len(others)):
            found.append((others, count))
    return found


def _distinct(pools: list[tuple[list[int], int]], draws: int, rng: torch.Generator) -> list[list[int]]:
    """`draws` different sets, each with the given number of heads of every pool. There must be enough."""
    found: list[list[int]] = []
    while len(found) < draws:
        parts = [torch.randperm(len(pool), generator=rng)[:count].tolist() for pool, count in pools]
        chosen = sorted(pool[k] for (pool, _), part in zip(pools, parts, strict=True) for k in part)
        if chosen not in found:
            found.append(chosen)
    return found
