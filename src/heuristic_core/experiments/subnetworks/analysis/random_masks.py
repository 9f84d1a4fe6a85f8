"""Random subnetworks that contain the core: the heads they are drawn from, and the probability of each head.

Learned subnetworks keep heads that occur together, so the effect of a head cannot be separated from the effects of its
companions. Here every head outside the core is drawn independently. The mean over subnetworks with the head minus the
mean over subnetworks without it is therefore the effect of the head, averaged over the other heads present.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

PROBABILITY_RANGE = 0.1, 0.9  # beyond these probabilities, too few masks would keep a head, or lack it


class Pool(NamedTuple):
    """Components that random subnetworks are drawn from.

    Attributes:
        core: Indices of core heads, ascending; every subnetwork keeps them.
        heads: Indices of the heads that are drawn, ascending.
        shares: Probability that each of `heads` is kept.
        mlps: Indices of the MLPs that every subnetwork keeps.
    """

    core: tuple[int, ...]
    heads: tuple[int, ...]
    shares: tuple[float, ...]
    mlps: tuple[int, ...]


def build_pool(components: pd.DataFrame, core: pd.DataFrame) -> Pool:
    """Build the pool of random subnetworks: heads outside the core that any learned subnetwork keeps.

    The probability of a head is the mean share of its layer's pool that learned subnetworks keep, clipped to
    `PROBABILITY_RANGE`, so that random subnetworks are about as large. MLPs are those that at least half of the learned
    subnetworks keep.

    Args:
        components: Table "components" of the learned subnetworks; no rows give an empty pool.
        core: Table "core" of the run.

    Returns:
        The pool.
    """
    in_core = tuple(sorted(core.loc[core["in_core"], "component"].astype(int)))
    kept = components.groupby(["kind", "layer", "component"], observed=True)["kept"].mean().astype(float).reset_index()
    heads = kept[(kept["kind"] == "head") & (kept["kept"] > 0) & ~kept["component"].isin(in_core)]
    shares = heads.groupby("layer")["kept"].transform("mean").clip(*PROBABILITY_RANGE)
    mlps = kept.loc[(kept["kind"] == "mlp") & (kept["kept"] >= 0.5), "component"]
    return Pool(in_core, tuple(heads["component"].astype(int)), tuple(shares), tuple(mlps.astype(int)))


def draw_masks(pool: Pool, count: int, rng: np.random.Generator) -> np.ndarray:
    """Draw random subnetworks.

    Args:
        pool: Heads and their probabilities.
        count: Number of subnetworks.
        rng: Generator of the draws.

    Returns:
        Whether each subnetwork keeps each head of the pool, independent draws, bool [count, heads].
    """
    return rng.random((count, len(pool.heads))) < np.array(pool.shares)


def list_learned_masks(components: pd.DataFrame) -> dict[int, frozenset[int]]:
    """Return the components that each subnetwork of table "components" keeps, by pruning seed, ascending."""
    kept = components[components["kept"].astype(bool)].groupby("seed")["component"]
    return {int(seed): frozenset(seed_components.astype(int)) for seed, seed_components in kept}
