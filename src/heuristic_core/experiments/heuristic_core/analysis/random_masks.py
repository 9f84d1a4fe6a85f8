"""Random subnetworks that all contain the core: from which heads they are drawn, and how often each is drawn.

Learned subnetworks keep heads that go together, so that what a head does cannot be told from what its companions do.
Here every head outside the core is kept or not by a draw of its own. So the mean over subnetworks with the head minus
the mean over those without it is the head's effect, averaged over what else may be there.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

ENDS = 0.1, 0.9  # probabilities beyond them would leave few masks with a head, or without it


class Pool(NamedTuple):
    """core, heads: component indices, ascending; of `heads` random subnetworks are drawn. shares: of each of these, the
    probability of being kept. mlps: component indices of those that every random subnetwork keeps."""

    core: tuple[int, ...]
    heads: tuple[int, ...]
    shares: tuple[float, ...]
    mlps: tuple[int, ...]


def pool_of(components: pd.DataFrame, core: pd.DataFrame) -> Pool:
    """What random subnetworks are drawn from: the heads outside the core that any learned subnetwork keeps.

    components: table "components" of the learned subnetworks; none gives an empty pool. core: table "core" of the run.
    A head's probability is the mean share of its layer's pool that learned subnetworks keep, so that random ones are
    about as large, within `ENDS`. MLPs are those that at least half of the learned subnetworks keep.
    """
    in_core = tuple(sorted(core.loc[core["in_core"], "component"].astype(int)))
    kept = components.groupby(["kind", "layer", "component"], observed=True)["kept"].mean().astype(float).reset_index()
    heads = kept[(kept["kind"] == "head") & (kept["kept"] > 0) & ~kept["component"].isin(in_core)]
    shares = heads.groupby("layer")["kept"].transform("mean").clip(*ENDS)
    mlps = kept.loc[(kept["kind"] == "mlp") & (kept["kept"] >= 0.5), "component"]
    return Pool(in_core, tuple(heads["component"].astype(int)), tuple(shares), tuple(mlps.astype(int)))


def drawn(pool: Pool, count: int, rng: np.random.Generator) -> np.ndarray:
    """Which heads of the pool each of `count` random subnetworks keeps: bool [count, heads], all independent."""
    return rng.random((count, len(pool.heads))) < np.array(pool.shares)


def learned(components: pd.DataFrame) -> dict[int, frozenset[int]]:
    """The components that each subnetwork of table "components" keeps, by pruning seed, ascending."""
    kept = components[components["kept"].astype(bool)].groupby("seed")["component"]
    return {int(seed): frozenset(of_seed.astype(int)) for seed, of_seed in kept}
