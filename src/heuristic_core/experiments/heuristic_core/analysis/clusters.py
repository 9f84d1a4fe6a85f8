"""Do subnetworks compete? Whether the masks of pruning seeds fall into clusters (paper, section 4: they do not).

That seeds share heads says nothing about competition: any ranking of heads that all seeds follow gives a core.
Competing subnetworks would be clusters: some pairs of masks would overlap more, and others less, than two facts
explain, how often each head is kept and how many heads each seed keeps in each layer.
"""

import numpy as np
import pandas as pd

from heuristic_core.analysis.frames import frame
from heuristic_core.analysis.randomisation import tails
from heuristic_core.common.draws import numpy_generator
from heuristic_core.experiments.heuristic_core.analysis.core import masks_of_runs
from heuristic_core.experiments.heuristic_core.config.context import Context

DRAWS = 1000
TRADES = 5  # in each layer, times the number of seeds; each trades the heads of two seeds


def mask_clusters(components: pd.DataFrame, context: Context, seed: int) -> pd.DataFrame:
    """Table "mask_clusters" from table "components": the variance of pairwise overlaps against swaps of heads.

    Cells of fewer than three seeds have one pair, or none, and no row.
    """
    rows = []
    for run, by_cell in masks_of_runs(components, context):
        for name, of_seeds in by_cell.items():
            masks = np.stack([of_seeds[seed] for seed in sorted(of_seeds)])
            if len(masks) < 3:
                continue
            draws = overlap_variance(swapped(masks, DRAWS, numpy_generator(seed, "clusters", run["ft_seed"], name)))
            observed = float(overlap_variance(masks))
            row = {"set": name, "seeds": len(masks), "variance": observed, "expected": draws.mean(), "draws": DRAWS}
            row["p"], row["p_below"] = tails(draws, observed)
            rows.append(run | row)
    return frame("mask_clusters", rows)


def overlap_variance(masks: np.ndarray) -> np.ndarray:
    """The variance, over pairs of seeds, of the number of heads that both keep; masks: [..., seeds, layers, heads].

    The mean over pairs follows from the frequencies of heads alone.
    """
    flat = masks.reshape(*masks.shape[:-2], -1).astype(np.float32)  # counts below 2^24 are exact in it
    overlaps = flat @ flat.swapaxes(-1, -2)
    first, second = np.triu_indices(masks.shape[-3], k=1)
    return overlaps[..., first, second].astype(float).var(axis=-1)


def swapped(masks: np.ndarray, draws: int, rng: np.random.Generator) -> np.ndarray:
    """Random masks with every seed's number of heads in each layer, and every head's number of seeds: [draws, ...].

    masks: bool, seeds x layers x heads. A Markov chain of trades (curveball: Strona et al. 2014) goes from the masks to
    a hub, and from it once for each draw (Besag and Clifford 1989). As a trade is as likely as its reverse, masks and
    draws are exchangeable under the null hypothesis: p is exact however slowly the chain mixes.
    """
    steps = TRADES * len(masks)
    hub = masks.swapaxes(0, 1)[np.newaxis].copy()  # [1, layers, seeds, heads]
    for _ in range(steps):
        _trade(hub, rng)
    chains = np.repeat(hub, draws, axis=0)
    for _ in range(steps):
        _trade(chains, rng)
    return chains.swapaxes(1, 2)


def _trade(masks: np.ndarray, rng: np.random.Generator) -> None:
    """In every layer two random seeds divide again the heads that only one of them keeps, both as many as before.

    masks: bool, chains x layers x seeds x heads, changed in place.
    """
    chains, layers, seeds, _ = masks.shape
    first = rng.integers(seeds, size=(chains, layers, 1, 1))
    second = (first + rng.integers(1, seeds, size=first.shape)) % seeds
    one, other = (np.take_along_axis(masks, which, axis=2) for which in (first, second))
    apart = one ^ other
    keys = np.where(apart, rng.random(apart.shape), 2.0)
    count = (one & apart).sum(axis=-1, keepdims=True)
    last = np.take_along_axis(np.sort(keys, axis=-1), np.maximum(count - 1, 0), axis=-1)
    chosen = apart & (keys <= last) & (count > 0)
    np.put_along_axis(masks, first, (one & other) | chosen, axis=2)
    np.put_along_axis(masks, second, (one & other) | (apart & ~chosen), axis=2)
