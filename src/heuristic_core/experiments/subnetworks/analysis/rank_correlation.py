"""Spearman's rank correlation of head frequencies between mid and high sparsity (paper, appendix)."""

import math
from itertools import combinations

import numpy as np
import pandas as pd
from scipy.stats import spearmanr

from heuristic_core.common.draws import numpy_generator
from heuristic_core.experiments.subnetworks.analysis.core import iter_run_masks, stack_masks
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.stats.bootstrap import percentiles
from heuristic_core.stats.frames import make_frame

MAX_SPLITS = 1000  # most splits of the seeds into halves; 12 seeds have 924


def compute_rank_correlation(components: pd.DataFrame, context: Context, bootstrap: int, seed: int) -> pd.DataFrame:
    """Make table "rank_correlation" from table "components": rho of head frequency at mid against high sparsity.

    Runs of one seed share their random draws at both sparsities, which raises rho. A second row therefore has the mean
    rho between disjoint halves of the seeds. Halves count fewer subnetworks, so their ranks are noisier. Intervals are
    from a bootstrap over heads. MLPs are ignored, and so are seeds with a failed run.

    Args:
        components: Table "components" of any number of fine-tuning runs.
        context: Context of the study.
        bootstrap: Number of resamples.
        seed: Seed of splits and resamples.

    Returns:
        Two rows for each fine-tuning run; rho is null if a frequency is the same for all heads.
    """
    rows = []
    for run, by_cell in iter_run_masks(components, context):
        masks = stack_masks(by_cell)
        heads = masks.shape[2] * masks.shape[3]
        mid, high = masks.reshape(2, -1, heads)
        identity = run | {"step": context.last, "n": heads}
        rng = numpy_generator(seed, "rank correlation", run["ft_seed"])
        rows.append(
            identity | {"seeds": "shared"} | _correlate_shared(mid.sum(axis=0), high.sum(axis=0), bootstrap, rng)
        )
        rows.append(identity | {"seeds": "disjoint"} | _correlate_disjoint(mid, high, bootstrap, rng))
    return make_frame("rank_correlation", rows)


def _correlate_shared(mid: np.ndarray, high: np.ndarray, bootstrap: int, rng: np.random.Generator) -> dict:
    """Return rho of two counts by head, with its interval. Shared draws raise it, so it has no p."""
    if len(set(mid)) < 2 or len(set(high)) < 2:
        return {}
    rho = spearmanr(mid, high).statistic
    resamples = rng.integers(len(mid), size=(bootstrap, len(mid)))
    rhos = [_rhos(mid[None], high[None], _count_draws(heads)) for heads in resamples]
    interval = percentiles(np.concatenate(rhos))
    return {"rho": rho, "low": interval[0], "high": interval[1]}


def _correlate_disjoint(mid: np.ndarray, high: np.ndarray, bootstrap: int, rng: np.random.Generator) -> dict:
    """Return the mean rho of one half of the seeds at mid and the other at high; mid, high: [seeds, heads]."""
    if len(mid) < 2:
        return {}
    first, second = split_in_halves(len(mid), rng)
    halves = mid[first].sum(axis=1), high[second].sum(axis=1)  # [splits, heads]
    heads = mid.shape[1]
    rhos = _rhos(*halves, np.ones(heads))
    if not len(rhos):
        return {}
    resamples = (rng.integers(heads, size=heads) for _ in range(bootstrap))
    means = [_rhos(*halves, _count_draws(resample)) for resample in resamples]
    interval = percentiles(np.array([rho.mean() for rho in means if len(rho)]))
    return {"rho": rhos.mean(), "low": interval[0], "high": interval[1]}


def split_in_halves(seeds: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Split pruning seeds into halves; of an odd number, each split leaves one out.

    Args:
        seeds: Number of seeds.
        rng: Generator of random splits.

    Returns:
        Indices of the first and the second halves, [splits, seeds // 2] each: all splits, or `MAX_SPLITS` random ones
        if there are more. The order of the halves counts.
    """
    half, indices = seeds // 2, range(seeds)
    if math.comb(seeds, half) * math.comb(seeds - half, half) <= MAX_SPLITS:
        subsets = list(combinations(indices, half))
        order = np.array([a + b for a in subsets for b in subsets if not set(a) & set(b)])
    else:
        order = np.array([rng.permutation(seeds) for _ in range(MAX_SPLITS)])
    return order[:, :half], order[:, half : 2 * half]


def _count_draws(heads: np.ndarray) -> np.ndarray:
    """Return how often each head is drawn in a resample of as many heads."""
    return np.bincount(heads, minlength=len(heads))


def _rhos(a: np.ndarray, b: np.ndarray, draws: np.ndarray) -> np.ndarray:
    """Return Spearman's rho of each row of `a` with the same row of `b`, without rows whose ranks are all equal.

    Args:
        a: Counts [rows, heads].
        b: Counts [rows, heads].
        draws: How often each head occurs, [heads].
    """
    a, b = _centred_ranks(a, draws), _centred_ranks(b, draws)
    norm = np.sqrt((a**2 @ draws) * (b**2 @ draws))
    return ((a * b) @ draws)[norm > 0] / norm[norm > 0]


def _centred_ranks(counts: np.ndarray, draws: np.ndarray) -> np.ndarray:
    """Return ranks minus their mean; equal counts have the mean of their ranks.

    Several times faster than sorting each row of each resample: how often each value occurs gives its rank.
    """
    rows, levels = len(counts), counts.max() + 1
    index = (counts + levels * np.arange(rows)[:, None]).ravel()
    occurrences = np.bincount(index, np.broadcast_to(draws, counts.shape).ravel(), rows * levels).reshape(rows, levels)
    ranks = occurrences.cumsum(axis=1) - (occurrences - 1) / 2
    return np.take_along_axis(ranks, counts, axis=1) - (draws.sum() + 1) / 2
