"""Compute the size of the core by number of seeds: does it converge, or would more seeds empty the core?"""

from itertools import combinations
from math import comb

import numpy as np
import pandas as pd

from heuristic_core.common.draws import numpy_generator
from heuristic_core.experiments.subnetworks.analysis.core import SETS, intersect_by_seed, iter_run_masks
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.stats.frames import make_frame

CURVES = ("high", "mid", "mid+high")
MAX_CHOICES = 500  # choices of seeds that are averaged; the error of the mean is then a few hundredths of a head


def compute_core_seeds(components: pd.DataFrame, context: Context, seed: int) -> pd.DataFrame:
    """Compute table "core_seeds": the number of heads kept by all subnetworks of k pruning seeds, for all k.

    The number is averaged over all choices of k seeds, or over `MAX_CHOICES` random ones. Its expectation under
    permutation of heads within layers, as in table "core_null", is exact: a layer of H heads of which seed i keeps k_i
    has H * prod(k_i / H) shared heads on average.

    Args:
        components: Table "components".
        context: Cells of the study.
        seed: Seed of the random choices.
    """
    rows = []
    for run, masks in iter_run_masks(components, context):
        for name in CURVES:
            kept = intersect_by_seed(masks, SETS[name])  # [seeds, layers, heads]
            for count in range(1, len(kept) + 1):
                choices = _choose_seeds(
                    len(kept), count, numpy_generator(seed, "core seeds", run["ft_seed"], name, count)
                )
                shared = kept[choices].all(axis=1).sum(axis=(1, 2))
                shares = kept[choices].mean(axis=-1)  # [choices, seeds, layers]
                expected = kept.shape[-1] * shares.prod(axis=1).sum(axis=-1).mean()
                row = {"set": name, "seeds": count, "heads": shared.mean(), "expected": expected}
                sd = shared.std(ddof=1) if len(choices) > 1 else None
                rows.append(run | row | {"sd": sd, "choices": len(choices)})
    return make_frame("core_seeds", rows)


def _choose_seeds(seeds: int, count: int, rng: np.random.Generator) -> np.ndarray:
    """Return choices of `count` seeds as indices, [choices, count]."""
    if comb(seeds, count) <= MAX_CHOICES:
        return np.array(list(combinations(range(seeds), count)))
    return np.array([rng.choice(seeds, count, replace=False) for _ in range(MAX_CHOICES)])
