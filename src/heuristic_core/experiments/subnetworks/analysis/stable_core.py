"""The stable core: how it is selected, and whether it is larger than expected by chance."""

import pandas as pd

from heuristic_core.common.draws import numpy_generator
from heuristic_core.experiments.subnetworks.analysis.core import SETS, intersect_by_seed, iter_run_masks
from heuristic_core.experiments.subnetworks.analysis.stability import (
    MAX_EXPECTED_BY_CHANCE,
    compute_error_bound,
    compute_expected_counts,
    draw_stable_counts,
    find_threshold,
)
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.stats.frames import make_frame
from heuristic_core.stats.randomisation import tail_p_values

CORE_SET = "mid+high"  # key of `SETS`


def compute_stable_core(components: pd.DataFrame, context: Context, permutations: int, seed: int) -> pd.DataFrame:
    """Make table "stable_core" from table "components".

    The threshold depends only on the numbers of heads that seeds keep in each layer, which permutations preserve. The
    permutation test of the number of heads that reach it is therefore exact.

    Args:
        components: Table "components" of any number of fine-tuning runs.
        context: Context of the study.
        permutations: Draws of the test.
        seed: Seed of the draws.

    Returns:
        A row for each fine-tuning run.

    Raises:
        InputError: A run has no mid- or no high-sparsity subnetworks.
    """
    rows = []
    for run, masks_by_cell in iter_run_masks(components, context):
        masks = intersect_by_seed(masks_by_cell, SETS[CORE_SET])
        threshold, expected = find_threshold(masks), compute_expected_counts(masks)
        row = {
            "n": sum(len(masks_by_cell[cell]) for cell in SETS[CORE_SET]),
            "seeds": len(masks),
            "heads": masks[0].size,
            "kept": masks.sum(axis=(1, 2)).mean(),
            "expected": expected[-1 if threshold is None else threshold],
        }
        if threshold is None:
            average = f"{expected[-1]:.2g} on average, more than {MAX_EXPECTED_BY_CHANCE:g}"
            rows.append(run | row | {"reason": f"all {len(masks)} seeds share too many heads by chance: {average}"})
            continue
        observed = int((masks.sum(axis=0) >= threshold).sum())
        draws = draw_stable_counts(masks, threshold, permutations, numpy_generator(seed, run["ft_seed"], "stable core"))
        more, fewer = tail_p_values(draws, observed)
        row |= {"least": threshold, "observed": observed, "bound": compute_error_bound(masks, threshold)}
        rows.append(run | row | {"p": more, "p_fewer": fewer, "permutations": permutations})
    return make_frame("stable_core", rows)
