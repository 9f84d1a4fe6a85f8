"""Stability selection: heads that more pruning seeds keep than chance within layers explains.

Meinshausen and Bühlmann (2010) select the variables that at least a share pi of the fits select, with pi so large that
few variables reach it by chance; Shah and Samworth (2013) tighten their bound. Here a fit is a pruning seed, and
chance is exact: the heads of each seed are permuted within layers, which keeps its number of heads in each layer.
All masks are bool [seeds, layers, heads].
"""

import math

import numpy as np
from scipy import stats

from heuristic_core.stats.randomisation import TIE_TOLERANCE

MAX_EXPECTED_BY_CHANCE = 0.5  # heads expected to be selected by chance in the whole model, so most likely none is


def compute_expected_counts(masks: np.ndarray) -> np.ndarray:
    """Compute the expected number of heads that at least k seeds keep, if heads are permuted within layers.

    Args:
        masks: Heads that each seed keeps.

    Returns:
        Numbers of heads for k = 0 to the number of seeds, [seeds + 1]. In a layer of H heads, a seed that keeps m
        keeps any of them with probability m / H, so the count of a head is Poisson-binomial.
    """
    expected = np.zeros(len(masks) + 1)
    for shares in masks.mean(axis=2).T:
        counts = np.ones(1)
        for share in shares:
            counts = np.append(counts * (1 - share), 0) + np.append(0, counts * share)
        expected += masks.shape[2] * counts[::-1].cumsum()[::-1]
    return expected


def find_threshold(masks: np.ndarray) -> int | None:
    """Find the fewest seeds that must keep a head for it to be stable.

    Args:
        masks: Heads that each seed keeps.

    Returns:
        The smallest number of seeds that at most `MAX_EXPECTED_BY_CHANCE` heads reach by chance; None if more are
        expected even in all seeds.
    """
    (counts,) = np.nonzero(compute_expected_counts(masks) <= MAX_EXPECTED_BY_CHANCE + TIE_TOLERANCE)
    return int(counts[0]) if len(counts) else None


def select_stable_heads(masks: np.ndarray) -> np.ndarray:
    """Select the heads that reach the threshold.

    Args:
        masks: Heads that each seed keeps.

    Returns:
        bool [layers, heads]; all False without a threshold.
    """
    threshold = find_threshold(masks)
    return masks.sum(axis=0) >= (math.inf if threshold is None else threshold)


def draw_stable_counts(masks: np.ndarray, threshold: int, permutations: int, rng: np.random.Generator) -> np.ndarray:
    """Draw how many heads at least `threshold` seeds keep if heads are permuted within layers.

    Args:
        masks: Heads that each seed keeps.
        threshold: Fewest seeds that keep a stable head.
        permutations: Number of draws.
        rng: Generator of the draws.

    Returns:
        int [permutations].
    """
    totals = np.zeros(permutations, int)
    for layer in masks.transpose(1, 0, 2):  # [seeds, heads]
        permuted = rng.permuted(np.broadcast_to(layer, (permutations, *layer.shape)), axis=2)
        totals += (permuted.sum(axis=1) >= threshold).sum(axis=1)
    return totals


def compute_error_bound(masks: np.ndarray, threshold: int) -> float | None:
    """Compute Meinshausen and Bühlmann's bound on the expected number of falsely selected heads.

    Args:
        masks: Heads that each seed keeps.
        threshold: Fewest seeds that keep a stable head.

    Returns:
        q^2 / ((2 pi - 1) p), where q is the mean number of heads that a seed keeps, p the number of heads, and pi =
        threshold / seeds; None unless pi is above one half (their theorem 1).
    """
    excess = 2 * threshold / len(masks) - 1
    return float(masks.sum(axis=(1, 2)).mean() ** 2 / (excess * masks[0].size)) if excess > 0 else None


def compute_share_intervals(seeds: int) -> np.ndarray:
    """Compute Wilson's 95 % intervals of the shares 0 / seeds to seeds / seeds, [seeds + 1, 2 ends]."""
    return np.array([stats.binomtest(count, seeds).proportion_ci(method="wilson") for count in range(seeds + 1)])
