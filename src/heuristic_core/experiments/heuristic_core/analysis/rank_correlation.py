"""Do both sparsities keep the same heads? Spearman's rank correlation of head frequencies (paper, appendix)."""

import math
from itertools import combinations

import numpy as np
import pandas as pd
from scipy.stats import rankdata, spearmanr

from heuristic_core.analysis.bootstrap import percentiles
from heuristic_core.analysis.frames import frame
from heuristic_core.common.draws import numpy_generator
from heuristic_core.experiments.heuristic_core.analysis.core import masks_of_runs, of_both
from heuristic_core.experiments.heuristic_core.config.context import Context

SPLITS = 1000  # of the seeds in halves, at most: 12 seeds have 924


def rank_correlation(components: pd.DataFrame, context: Context, bootstrap: int, seed: int) -> pd.DataFrame:
    """Table "rank_correlation" from table "components": rho of head frequency at mid against high sparsity.

    Runs of one seed share their random draws at both sparsities, which raises rho; so it is also given between
    disjoint halves of the seeds, a mean over splits. Halves count fewer subnetworks, so their ranks are noisier.
    Intervals are a bootstrap over heads. Over heads only; null where a frequency is the same for all heads. A seed
    of which a run failed is left out.
    """
    rows = []
    for run, by_cell in masks_of_runs(components, context):
        masks = of_both(by_cell)
        heads = masks.shape[2] * masks.shape[3]
        mid, high = masks.reshape(2, -1, heads)
        identity = run | {"step": context.last, "n": heads}
        draw = numpy_generator(seed, "rank correlation", run["ft_seed"])
        rows.append(identity | {"seeds": "shared"} | _shared(mid.sum(axis=0), high.sum(axis=0), bootstrap, draw))
        rows.append(identity | {"seeds": "disjoint"} | _disjoint(mid, high, bootstrap, draw))
    return frame("rank_correlation", rows)


def _shared(mid: np.ndarray, high: np.ndarray, bootstrap: int, rng: np.random.Generator) -> dict:
    """rho of two counts by head, with its p and interval."""
    if len(set(mid)) < 2 or len(set(high)) < 2:
        return {}
    rho, p = spearmanr(mid, high)
    heads = rng.integers(len(mid), size=(bootstrap, len(mid)))
    ends = percentiles(_rhos(mid[heads], high[heads]))
    return {"rho": rho, "p": p, "low": ends[0], "high": ends[1]}


def _disjoint(mid: np.ndarray, high: np.ndarray, bootstrap: int, rng: np.random.Generator) -> dict:
    """Mean rho between one half of the seeds at mid and the other at high sparsity; mid, high: [seeds, heads]."""
    if len(mid) < 2:
        return {}
    one, other = halves_of(len(mid), rng)
    halves = mid[one].sum(axis=1), high[other].sum(axis=1)  # [splits, heads]
    rhos = _rhos(*halves)
    if not len(rhos):
        return {}
    drawn = (rng.integers(mid.shape[1], size=mid.shape[1]) for _ in range(bootstrap))
    means = [_rhos(halves[0][:, heads], halves[1][:, heads]) for heads in drawn]
    ends = percentiles(np.array([rho.mean() for rho in means if len(rho)]))
    return {"rho": rhos.mean(), "low": ends[0], "high": ends[1]}


def halves_of(seeds: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Splits of pruning seeds in halves, of an odd number without one: indices, [splits, seeds // 2] each.

    All splits, or `SPLITS` random ones where there are more. The order of the halves counts.
    """
    half, every = seeds // 2, range(seeds)
    if math.comb(seeds, half) * math.comb(seeds - half, half) <= SPLITS:
        ones = list(combinations(every, half))
        order = np.array([one + other for one in ones for other in ones if not set(one) & set(other)])
    else:
        order = np.array([rng.permutation(seeds) for _ in range(SPLITS)])
    return order[:, :half], order[:, half : 2 * half]


def _rhos(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Spearman's rho of every row of `a` with the same row of `b`, rows of equal ranks left out."""
    a, b = (ranks - ranks.mean(axis=1, keepdims=True) for ranks in (rankdata(a, axis=1), rankdata(b, axis=1)))
    norm = np.sqrt((a**2).sum(axis=1) * (b**2).sum(axis=1))
    return ((a * b).sum(axis=1)[norm > 0]) / norm[norm > 0]
