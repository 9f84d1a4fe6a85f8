"""The core's size as a function of the number of seeds: does it converge, or will more seeds empty it?"""

from itertools import combinations
from math import comb

import numpy as np
import pandas as pd

from heuristic_core.analysis.frames import frame
from heuristic_core.common.draws import numpy_generator
from heuristic_core.experiments.heuristic_core.analysis.core import SETS, by_seed, masks_of_runs
from heuristic_core.experiments.heuristic_core.config.context import Context

CURVES = ("high", "mid", "mid+high")
CHOICES = 500  # of seeds, where there are more: their mean then has an error of a few hundredths of a head


def core_seeds(components: pd.DataFrame, context: Context, seed: int) -> pd.DataFrame:
    """Table "core_seeds" from table "components": heads kept by every subnetwork of k pruning seeds, for every k.

    Averaged over all choices of k seeds, or over `CHOICES` random ones. Expected: under permutation of heads within
    layers as in table "core_null", exactly: a layer of H heads of which seed i keeps k_i shares H * prod(k_i / H) of
    them on average.
    """
    rows = []
    for run, masks in masks_of_runs(components, context):
        for name in CURVES:
            kept = by_seed(masks, SETS[name])  # [seeds, layers, heads]
            for count in range(1, len(kept) + 1):
                chosen = _choices(len(kept), count, numpy_generator(seed, "core seeds", run["ft_seed"], name, count))
                shared = kept[chosen].all(axis=1).sum(axis=(1, 2))
                shares = kept[chosen].mean(axis=-1)  # [choices, seeds, layers]
                expected = kept.shape[-1] * shares.prod(axis=1).sum(axis=-1).mean()
                row = {"set": name, "seeds": count, "heads": shared.mean(), "expected": expected}
                sd = shared.std(ddof=1) if len(chosen) > 1 else None
                rows.append(run | row | {"sd": sd, "choices": len(chosen)})
    return frame("core_seeds", rows)


def _choices(seeds: int, count: int, rng: np.random.Generator) -> np.ndarray:
    """Indices of seeds, [choices, count]."""
    if comb(seeds, count) <= CHOICES:
        return np.array(list(combinations(range(seeds), count)))
    return np.array([rng.choice(seeds, count, replace=False) for _ in range(CHOICES)])
