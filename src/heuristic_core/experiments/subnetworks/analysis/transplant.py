"""Masks of one checkpoint on the weights and means of another.

They show whether the kept components or their weights change during fine-tuning.
"""

from collections.abc import Collection, Sequence

import pandas as pd

from heuristic_core.experiments.subnetworks.analysis.levels import append_means
from heuristic_core.pruning.subnetwork import FailedRun
from heuristic_core.stats.frames import make_frame
from heuristic_core.tables.columns import RUN
from heuristic_core.tables.identity import Identity

FULL_MODEL_SEED = -1  # replaces the null seed of the full model in groupings
MODEL = ["step", "mask_step", "seed"]
MASK_KEYS = [*RUN, "mask_step", "sparsity", "seed"]  # keys that join a mask to its row of table "runs"


def compute_transplant(
    rows: pd.DataFrame, failed: Sequence[FailedRun], run: Identity, subsets: Collection[str] | None
) -> pd.DataFrame:
    """Make table "transplant".

    Args:
        rows: Rows of `levels.by_subset` with columns step, mask_step and seed; full models have seed `FULL_MODEL_SEED`.
        failed: Pruning runs without a subnetwork, whose rows are null.
        run: Study, model, task, fine-tuning seed, and sparsity of the subnetworks.
        subsets: Subsets that enter means; None for all.

    Returns:
        A row for each checkpoint, mask and level.
    """
    table = append_means(rows, MODEL, subsets)
    full = table[table["seed"] == FULL_MODEL_SEED]
    failed_rows = [
        full.assign(
            mask_step=failed_run.identity.step,
            seed=failed_run.identity.seed,
            accuracy=None,
            log_odds=None,
            reason=failed_run.reason,
        )
        for failed_run in failed
    ]
    table = pd.concat([table.assign(reason=None), *failed_rows], ignore_index=True)
    is_full = table["seed"] == FULL_MODEL_SEED
    table["sparsity"] = pd.Series(run.sparsity, table.index).mask(is_full, 0.0)
    for name in ("mask_step", "seed"):
        table[name] = table[name].astype("Int32").mask(is_full)
    identity = {name: getattr(run, name) for name in ("study", "model", "task", "ft_seed")}
    return make_frame("transplant", table.assign(**identity))
