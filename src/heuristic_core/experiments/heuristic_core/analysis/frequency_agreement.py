"""Do both sparsities keep the same heads of each layer? Ranks within layers, corrected for how few subnetworks count.

Layers differ in how many heads subnetworks keep. That alone correlates head frequencies over all heads, as table
"rank_correlation" has them from the paper, whichever heads of a layer are kept.
"""

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from heuristic_core.analysis.frames import frame
from heuristic_core.analysis.randomisation import PERMUTATIONS, tails
from heuristic_core.common.draws import numpy_generator
from heuristic_core.experiments.heuristic_core.analysis.core import masks_of_runs, of_both
from heuristic_core.experiments.heuristic_core.analysis.rank_correlation import halves_of
from heuristic_core.experiments.heuristic_core.config.context import Context


def frequency_agreement(components: pd.DataFrame, context: Context, seed: int) -> pd.DataFrame:
    """Table "frequency_agreement" from table "components", over heads; null where there is nothing to correlate.

    A seed of which a run failed is left out, and so is one seed of an odd number in every split.
    """
    rows = []
    for run, masks in masks_of_runs(components, context):
        mid, high = of_both(masks)
        row = run | {"step": context.last, "seeds": len(mid) // 2, "n": mid.shape[1] * mid.shape[2]}
        rows.append(row | agreement(mid, high, numpy_generator(seed, "frequency agreement", run["ft_seed"])))
    return frame("frequency_agreement", rows)


def agreement(mid: np.ndarray, high: np.ndarray, rng: np.random.Generator) -> dict:
    """The columns of values, from the masks of the same seeds at both sparsities: bool, seeds x layers x heads.

    Runs of one seed share their random draws, so that one half of the seeds at mid sparsity is compared with the other
    half at high. Halves count few subnetworks, which lowers rho however well the sparsities agree; so it is divided by
    the root of the reliabilities, its values between halves of one sparsity (Spearman 1904). The null hypothesis
    permutes the heads of each layer at one sparsity.
    """
    if len(mid) < 2:
        return {}
    halves, (layers, heads) = halves_of(len(mid), rng), mid.shape[1:]
    mid_one, mid_other, high_one, high_other = (_ranks(kept[of].sum(axis=1)) for kept in (mid, high) for of in halves)
    if not (mid_one.any() and high_one.any()):
        return {}
    # Of each head at mid sparsity with each at high.
    products = (mid_one.T @ high_other + mid_other.T @ high_one) / (2 * len(mid_one))
    every = np.arange(layers * heads)
    drawn = rng.permuted(np.broadcast_to(every.reshape(layers, heads), (PERMUTATIONS, layers, heads)), axis=2)
    rho, chance = np.trace(products), products[every, drawn.reshape(PERMUTATIONS, -1)].sum(axis=1)
    at_mid, at_high = (
        float((one * other).sum(axis=1).mean()) for one, other in ((mid_one, mid_other), (high_one, high_other))
    )
    p, p_below = tails(chance, rho)
    return {
        "rho": rho,
        "reliability_mid": at_mid,
        "reliability_high": at_high,
        "corrected": rho / np.sqrt(at_mid * at_high) if min(at_mid, at_high) > 0 else None,
        "p": p,
        "p_below": p_below,
    }


def _ranks(counts: np.ndarray) -> np.ndarray:
    """Ranks of heads within their layers, centred there and of norm 1 over all heads: [splits, heads of all layers].

    counts: [splits, layers, heads]. Zeros where no layer has any order.
    """
    ranks = rankdata(counts, axis=2)
    ranks = (ranks - ranks.mean(axis=2, keepdims=True)).reshape(len(counts), -1)
    norms = np.sqrt((ranks**2).sum(axis=1, keepdims=True))
    return ranks / np.where(norms > 0, norms, 1)
