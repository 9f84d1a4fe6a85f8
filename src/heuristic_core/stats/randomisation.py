"""Randomisation tests: permutations, random sets of heads, surrogates."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

PERMUTATIONS = 10_000
TIE_TOLERANCE = 1e-9  # draws that differ by less from the observed value count as equal to it


def tail_p_values(drawn: np.ndarray, observed: float) -> tuple[float, float]:
    """Compute the p-values of both tails from draws of the null distribution.

    A p-value is the share of draws that are at least (or at most) as large as the observed value. The observed value
    counts as a draw: (1 + count) / (1 + draws).

    Args:
        drawn: Draws, [draws].
        observed: Observed value.

    Returns:
        p-values of the upper and of the lower tail.
    """
    counts = (drawn >= observed - TIE_TOLERANCE).sum(), (drawn <= observed + TIE_TOLERANCE).sum()
    more, fewer = ((1 + int(count)) / (1 + len(drawn)) for count in counts)
    return more, fewer


def draw_random_heads(heads: pd.DataFrame, rng: np.random.Generator) -> np.ndarray:
    """Draw sums of `value` over random sets of heads, with as many heads in each layer as the core has.

    Args:
        heads: One row per head, with columns layer, in_core (bool) and value. Heads of the core may be drawn.
        rng: Source of the draws.

    Returns:
        Sums, [PERMUTATIONS].
    """
    sums = np.zeros(PERMUTATIONS)
    for _, layer in heads.groupby("layer"):
        values = np.tile(layer["value"].to_numpy(), (PERMUTATIONS, 1))
        sums += rng.permuted(values, axis=1)[:, : layer["in_core"].sum()].sum(axis=1)
    return sums


def layer_randomisation_test(heads: pd.DataFrame, rng: np.random.Generator) -> tuple[float, float, float]:
    """Test the core's sum of `value` against random sets with as many heads in each layer.

    No p-value is smaller than 1 / number of such sets.

    Args:
        heads: One row per head, as for :func:`draw_random_heads`.
        rng: Source of the draws.

    Returns:
        p-values of the upper and of the lower tail, and 1 / number of such sets.
    """
    sets = np.prod([math.comb(len(layer), int(layer["in_core"].sum())) for _, layer in heads.groupby("layer")])
    attainable = 1 / float(sets)
    p_values = tail_p_values(draw_random_heads(heads, rng), heads.loc[heads["in_core"], "value"].sum())
    more, fewer = (max(p, attainable) for p in p_values)
    return more, fewer, attainable


def stratified_permutation_test(
    strata: Sequence[tuple[np.ndarray, np.ndarray]], rng: np.random.Generator
) -> tuple[float, float, float]:
    """Test the sum of products of paired values, such as ranks, against permutations of the pairs within strata.

    No p-value is smaller than the probability of the largest sum.

    Args:
        strata: The paired values of each stratum, which are centred first.
        rng: Source of the draws.

    Returns:
        p-values of the upper and of the lower tail, and the smallest attainable upper one.
    """
    draws, observed, attainable = np.zeros(PERMUTATIONS), 0.0, 1.0
    for a, b in ((np.asarray(a) - np.mean(a), np.asarray(b) - np.mean(b)) for a, b in strata):
        observed += a @ b
        draws += rng.permuted(np.tile(b, (PERMUTATIONS, 1)), axis=1) @ a
        attainable *= _largest_product_probability(a, b)
    more, fewer = (max(p, attainable) for p in tail_p_values(draws, observed))
    return more, fewer, attainable


def _largest_product_probability(a: np.ndarray, b: np.ndarray) -> float:
    """Return the probability that a random pairing of values has the largest sum of products."""
    same = _count_orders(zip(np.sort(a), np.sort(b), strict=True))
    return _count_orders(a) * _count_orders(b) / same / math.factorial(len(a))


def _count_orders(values: Iterable) -> int:
    """Return the number of permutations that leave a sequence as it is."""
    return math.prod(map(math.factorial, Counter(values).values()))


def draw_shared_counts(masks: np.ndarray, permutations: int, rng: np.random.Generator) -> np.ndarray:
    """Draw the number of heads shared by all masks when heads are permuted within layers.

    Args:
        masks: bool, [subnetworks, layers, heads].
        permutations: Number of draws.
        rng: Source of the draws.

    Returns:
        Number of shared heads, int, [permutations].
    """
    # A permuted layer is a uniformly random set of its k heads, so the number of heads shared so far that it contains
    # is hypergeometric. Which heads they are does not matter, since the next mask is uniform, too. It is therefore
    # enough to draw the counts, which have the same distribution as with permuted masks.
    heads = masks.shape[2]
    shared = np.full((permutations, masks.shape[1]), heads)
    for kept_per_layer in masks.sum(axis=2):
        shared = rng.hypergeometric(shared, heads - shared, kept_per_layer)
    return shared.sum(axis=1)


def compute_overlap(masks: np.ndarray) -> float:
    """Compute the number of heads that two masks share, averaged over pairs of masks; 0 for a single mask.

    Args:
        masks: bool, [subnetworks, layers, heads].
    """
    pairs = len(masks) * (len(masks) - 1) / 2
    counts = masks.sum(axis=0)
    return float((counts * (counts - 1)).sum() / 2 / max(pairs, 1))


def draw_overlaps(masks: np.ndarray, permutations: int, rng: np.random.Generator) -> np.ndarray:
    """Draw the overlap of masks (:func:`compute_overlap`) when heads are permuted within layers.

    Args:
        masks: bool, [subnetworks, layers, heads].
        permutations: Number of draws.
        rng: Source of the draws.

    Returns:
        Overlaps, [permutations].
    """
    return np.array([compute_overlap(rng.permuted(masks, axis=2)) for _ in range(permutations)])
