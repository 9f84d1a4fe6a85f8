"""Which changes over fine-tuning, the components that a subnetwork keeps or their weights: masks of one checkpoint on
the weights and means of another."""

from collections.abc import Collection, Sequence

import pandas as pd

from heuristic_core.analysis.frames import frame
from heuristic_core.experiments.heuristic_core.analysis.levels import levels
from heuristic_core.pruning.subnetwork import FailedRun
from heuristic_core.tables.columns import RUN
from heuristic_core.tables.identity import Identity

FULL = -1  # seed of the full model until it is null
MODEL = ["step", "mask_step", "seed"]
RUN_OF_MASK = [*RUN, "mask_step", "sparsity", "seed"]  # what a mask shares with its row of table "runs"


def transplant(
    rows: pd.DataFrame, failed: Sequence[FailedRun], run: Identity, subsets: Collection[str] | None
) -> pd.DataFrame:
    """Table "transplant".

    rows: as `levels.by_subset` gives them, with columns step, mask_step and seed; `FULL` is the seed of full models.
    failed: pruning runs without a subnetwork, whose rows are null. run: study, model, task, fine-tuning seed and the
    sparsity of subnetworks. subsets: those that enter means; None for all.
    """
    found = levels(rows, MODEL, subsets)
    full = found[found["seed"] == FULL]
    absent = [
        full.assign(
            mask_step=one.identity.step, seed=one.identity.seed, accuracy=None, log_odds=None, reason=one.reason
        )
        for one in failed
    ]
    found = pd.concat([found.assign(reason=None), *absent], ignore_index=True)
    of_full = found["seed"] == FULL
    found["sparsity"] = pd.Series(run.sparsity, found.index).mask(of_full, 0.0)
    for name in ("mask_step", "seed"):
        found[name] = found[name].astype("Int32").mask(of_full)
    about = {name: getattr(run, name) for name in ("study", "model", "task", "ft_seed")}
    return frame("transplant", found.assign(**about))
