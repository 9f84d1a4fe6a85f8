"""Spearman's rank correlation of head frequencies between mid and high sparsity (paper, appendix)."""

import math
from itertools import combinations

import numpy as np
import pandas as pd
from scipy.stats import rankdata, spearmanr

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
    heads = rng.integers(len(mid), size=(bootstrap, len(mid)))
    interval = percentiles(_rhos(mid[heads], high[heads]))
    return {"rho": rho, "low": interval[0], "high": interval[1]}


def _correlate_disjoint(mid: np.ndarray, high: np.ndarray, bootstrap: int, rng: np.random.Generator) -> dict:
    """Return the mean rho of one half of the seeds at mid and the other at high; mid, high: [seeds, heads]."""
    if len(mid) < 2:
        return {}
    first, second = split_in_halves(len(mid), rng)
    halves = mid[first].sum(axis=1), high[second].sum(axis=1)  # [splits, heads]
    rhos = _rhos(*halves)
    if not len(rhos):
        return {}
    resamples = (rng.integers(mid.shape[1], size=mid.shape[1]) for _ in range(bootstrap))
    means = [_rhos(halves[0][:, heads], halves[1][:, heads]) for heads in resamples]
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


def _rhos(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return Spearman's rho of each row of `a` with the same row of `b`, without rows whose ranks are all equal."""
    a, b = (ranks - ranks.mean(axis=1, keepdims=True) for ranks in (rankdata(a, axis=1), rankdata(b, axis=1)))
    norm = np.sqrt((a**2).sum(axis=1) * (b**2).sum(axis=1))
    return ((a * b).sum(axis=1)[norm > 0]) / norm[norm > 0]
