"""The heads that a lesioned run is fine-tuned without: overlap heads, or as many random heads of the same layers."""

import re
from collections.abc import Mapping, Sequence
from math import comb, prod

import torch

from heuristic_core.common.errors import InputError
from heuristic_core.common.seeds import torch_generator
from heuristic_core.experiments.subnetworks.config.lesion import OVERLAP

LESION_PATTERN = rf"{OVERLAP}|random[1-9]\d*"


class LesionUnavailable(Exception):
    """The model has no such set of heads; the message says why."""


def select_lesion_heads(name: str, heads: Sequence[Mapping], seed: int, ft_seed: int) -> list[int]:
    """Return the component indices, ascending, of lesion `name`.

    A random set has, in every layer, as many heads as there are overlap heads, and no overlap head; if a layer has too
    few other heads, all of them. Random sets differ, and the k-th set does not depend on how many are drawn.

    Args:
        name: "overlap", or "random<k>" for the k-th random set.
        heads: All rows of table `overlap_heads` of the run.
        seed: Setting `analysis.seed`.
        ft_seed: The fine-tuning seed of the run.

    Raises:
        LesionUnavailable: No head or every head is an overlap head, or fewer than k random sets exist.
        InputError: If `name` is no lesion.
    """
    if not re.fullmatch(LESION_PATTERN, name):
        raise InputError(f"lesion = {name!r} is unknown; choose from {OVERLAP}, random1, random2, ...")
    overlap = [row["component"] for row in heads if row["overlap"]]
    if len(overlap) in (0, len(heads)):
        raise LesionUnavailable(
            f"{'every' if overlap else 'no'} head is an overlap head (see analysis.overlap_times_uniform)"
        )
    if name == OVERLAP:
        return sorted(overlap)
    pools, draw = _layer_pools(heads), int(name.removeprefix("random"))
    if not pools:
        raise LesionUnavailable("every head in the layers of the overlap heads is one of them")
    if draw > (n_sets := prod(comb(len(pool), count) for pool, count in pools)):
        raise LesionUnavailable(f"in the layers of the overlap heads there are {n_sets} random sets of as many others")
    return _draw_distinct(pools, draw, torch_generator("lesion", seed, ft_seed))[-1]


def _layer_pools(heads: Sequence[Mapping]) -> list[tuple[list[int], int]]:
    """Return, for each layer with overlap heads and others: the others, and how many of them a random set has."""
    pools = []
    for layer in sorted({row["layer"] for row in heads}):
        layer_rows = [row for row in heads if row["layer"] == layer]
        others = sorted(row["component"] for row in layer_rows if not row["overlap"])
        if count := min(len(others), len(layer_rows) - len(others)):
            pools.append((others, count))
    return pools


def _draw_distinct(pools: list[tuple[list[int], int]], draws: int, rng: torch.Generator) -> list[list[int]]:
    """Draw `draws` different sets, each with the given number of heads of each pool; enough sets must exist."""
    sets: list[list[int]] = []
    while len(sets) < draws:
        parts = [torch.randperm(len(pool), generator=rng)[:count].tolist() for pool, count in pools]
        heads = sorted(pool[k] for (pool, _), part in zip(pools, parts, strict=True) for k in part)
        if heads not in sets:
            sets.append(heads)
    return sets
