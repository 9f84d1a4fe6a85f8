"""Correlate head frequencies at two sparsities within layers, corrected for the small number of subnetworks.

Layers differ in how many heads subnetworks keep. This alone correlates head frequencies over all heads, as in table
"rank_correlation" after the paper, whichever heads of a layer are kept. Ranks within layers do not share this problem.
"""

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from heuristic_core.common.draws import numpy_generator
from heuristic_core.experiments.subnetworks.analysis.core import iter_run_masks, stack_masks
from heuristic_core.experiments.subnetworks.analysis.rank_correlation import split_in_halves
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.stats.frames import make_frame
from heuristic_core.stats.randomisation import PERMUTATIONS, tail_p_values


def compute_frequency_agreement(components: pd.DataFrame, context: Context, seed: int) -> pd.DataFrame:
    """Compute table "frequency_agreement"; values are null where nothing can be correlated.

    Seeds with a failed run are left out. With an odd number of seeds, each split leaves out one.

    Args:
        components: Table "components".
        context: Cells of the study.
        seed: Seed of splits and permutations.
    """
    rows = []
    for run, masks in iter_run_masks(components, context):
        mid, high = stack_masks(masks)
        row = run | {"step": context.last, "seeds": len(mid) // 2, "n": mid.shape[1] * mid.shape[2]}
        rows.append(row | correlate(mid, high, numpy_generator(seed, "frequency agreement", run["ft_seed"])))
    return make_frame("frequency_agreement", rows)


def correlate(mid: np.ndarray, high: np.ndarray, rng: np.random.Generator) -> dict:
    """Return the columns of the correlation between two sparsities.

    Runs of one seed share their random draws, so one half of the seeds at mid sparsity is compared with the other half
    at high sparsity. Halves have few subnetworks, which attenuates rho. It is therefore divided by the root of the
    product of the reliabilities, the correlations between halves at one sparsity (Spearman 1904); a quotient beyond -1
    or 1 is due to chance and set to -1 or 1. The null hypothesis permutes the heads of each layer at one sparsity.

    Args:
        mid: Masks of pruning seeds at mid sparsity, bool [seeds, layers, heads].
        high: Masks of the same seeds at high sparsity.
        rng: Random generator of splits and permutations.
    """
    if len(mid) < 2:
        return {}
    halves, (layers, heads) = split_in_halves(len(mid), rng), mid.shape[1:]
    mid_a, mid_b, high_a, high_b = (_ranks(kept[half].sum(axis=1)) for kept in (mid, high) for half in halves)
    if not (mid_a.any() and high_a.any()):
        return {}
    # Product of each head at mid sparsity with each head at high sparsity, averaged over splits.
    products = (mid_a.T @ high_b + mid_b.T @ high_a) / (2 * len(mid_a))
    all_heads = np.arange(layers * heads)
    permuted = rng.permuted(np.broadcast_to(all_heads.reshape(layers, heads), (PERMUTATIONS, layers, heads)), axis=2)
    rho, null = np.trace(products), products[all_heads, permuted.reshape(PERMUTATIONS, -1)].sum(axis=1)
    at_mid, at_high = (float((a * b).sum(axis=1).mean()) for a, b in ((mid_a, mid_b), (high_a, high_b)))
    p, p_below = tail_p_values(null, rho)
    return {
        "rho": rho,
        "reliability_mid": at_mid,
        "reliability_high": at_high,
        "corrected": float(np.clip(rho / np.sqrt(at_mid * at_high), -1, 1)) if min(at_mid, at_high) > 0 else None,
        "p": p,
        "p_below": p_below,
    }


def _ranks(counts: np.ndarray) -> np.ndarray:
    """Return ranks of heads within layers, centred by layer and with norm 1 over all heads: [splits, all heads].

    Args:
        counts: Number of subnetworks that keep a head, [splits, layers, heads]. Ranks are 0 if all layers are tied.
    """
    ranks = rankdata(counts, axis=2)
    ranks = (ranks - ranks.mean(axis=2, keepdims=True)).reshape(len(counts), -1)
    norms = np.sqrt((ranks**2).sum(axis=1, keepdims=True))
    return ranks / np.where(norms > 0, norms, 1)
