"""Test whether the masks of pruning seeds form clusters, as competing subnetworks would (paper, section 4: no).

Shared heads are no evidence about competition: any ranking of heads that all seeds follow yields a core. Competing
subnetworks would form clusters: some pairs of masks would overlap more and others less than expected from how often
each head is kept and how many heads each seed keeps in each layer.
"""

import numpy as np
import pandas as pd

from heuristic_core.common.draws import numpy_generator
from heuristic_core.experiments.subnetworks.analysis.core import iter_run_masks
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.stats.frames import make_frame
from heuristic_core.stats.randomisation import tail_p_values

DRAWS = 1000
TRADES_PER_SEED = 5  # trades in each layer for each seed; one trade exchanges heads between two seeds


def compute_mask_clusters(components: pd.DataFrame, context: Context, seed: int) -> pd.DataFrame:
    """Compute table "mask_clusters": the variance of pairwise overlaps, compared with random swaps of heads.

    Cells of fewer than three seeds have at most one pair and no row.

    Args:
        components: Table "components".
        context: Cells of the study.
        seed: Seed of the random swaps.
    """
    rows = []
    for run, masks_by_cell in iter_run_masks(components, context):
        for name, masks_by_seed in masks_by_cell.items():
            masks = np.stack([masks_by_seed[seed] for seed in sorted(masks_by_seed)])
            if len(masks) < 3:
                continue
            draws = overlap_variance(
                draw_swapped_masks(masks, DRAWS, numpy_generator(seed, "clusters", run["ft_seed"], name))
            )
            observed = float(overlap_variance(masks))
            row = {"set": name, "seeds": len(masks), "variance": observed, "expected": draws.mean(), "draws": DRAWS}
            row["p"], row["p_below"] = tail_p_values(draws, observed)
            rows.append(run | row)
    return make_frame("mask_clusters", rows)


def overlap_variance(masks: np.ndarray) -> np.ndarray:
    """Compute the variance over pairs of seeds of the number of heads that both keep.

    The mean over pairs depends only on how often each head is kept.

    Args:
        masks: Kept heads, bool [..., seeds, layers, heads].
    """
    flat = masks.reshape(*masks.shape[:-2], -1).astype(np.float32)  # float32 represents counts below 2^24 exactly
    overlaps = flat @ flat.swapaxes(-1, -2)
    first, second = np.triu_indices(masks.shape[-3], k=1)
    return overlaps[..., first, second].astype(float).var(axis=-1)


def draw_swapped_masks(masks: np.ndarray, draws: int, rng: np.random.Generator) -> np.ndarray:
    """Draw random masks that preserve each seed's number of heads per layer and each head's number of seeds.

    A Markov chain of trades (curveball: Strona et al. 2014) runs from the masks to a hub, and from the hub once for
    each draw (Besag and Clifford 1989). Because a trade and its reverse are equally likely, masks and draws are
    exchangeable under the null hypothesis, so p is exact however slowly the chain mixes.

    Args:
        masks: Kept heads, bool [seeds, layers, heads].
        draws: Number of draws.
        rng: Random generator.

    Returns:
        Random masks, bool [draws, seeds, layers, heads].
    """
    steps = TRADES_PER_SEED * len(masks)
    hub = masks.swapaxes(0, 1)[np.newaxis].copy()  # [1, layers, seeds, heads]
    for _ in range(steps):
        _swap_heads(hub, rng)
    chains = np.repeat(hub, draws, axis=0)
    for _ in range(steps):
        _swap_heads(chains, rng)
    return chains.swapaxes(1, 2)


def _swap_heads(masks: np.ndarray, rng: np.random.Generator) -> None:
    """Redistribute the heads that only one of two random seeds keeps at random between them, layer by layer.

    Both seeds keep their numbers of heads.

    Args:
        masks: Kept heads, bool [chains, layers, seeds, heads]; modified in place.
        rng: Random generator.
    """
    chains, layers, seeds, _ = masks.shape
    first = rng.integers(seeds, size=(chains, layers, 1, 1))
    second = (first + rng.integers(1, seeds, size=first.shape)) % seeds
    first_mask, second_mask = (np.take_along_axis(masks, index, axis=2) for index in (first, second))
    unshared = first_mask ^ second_mask
    keys = np.where(unshared, rng.random(unshared.shape), 2.0)
    count = (first_mask & unshared).sum(axis=-1, keepdims=True)
    last = np.take_along_axis(np.sort(keys, axis=-1), np.maximum(count - 1, 0), axis=-1)
    moved = unshared & (keys <= last) & (count > 0)
    np.put_along_axis(masks, first, (first_mask & second_mask) | moved, axis=2)
    np.put_along_axis(masks, second, (first_mask & second_mask) | (unshared & ~moved), axis=2)
