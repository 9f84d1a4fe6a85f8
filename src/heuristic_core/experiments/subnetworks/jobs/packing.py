"""Subnetworks of one model side by side."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import pandas as pd

from heuristic_core.common.draws import numpy_generator
from heuristic_core.common.roles import Fields, Input, Output, Unfinished
from heuristic_core.config.blocks import Device, PrecisionSetting
from heuristic_core.config.pruning import Prune
from heuristic_core.experiments.subnetworks.analysis.closed_sets import draw_matched_set
from heuristic_core.experiments.subnetworks.analysis.levels import compute_id_accuracy
from heuristic_core.experiments.subnetworks.analysis.packing import Round, close_next_round, compute_packing
from heuristic_core.experiments.subnetworks.analysis.runs import check_end
from heuristic_core.experiments.subnetworks.config.analysis import Analysis
from heuristic_core.experiments.subnetworks.config.mechanism import Mechanism
from heuristic_core.experiments.subnetworks.jobs.evaluator import Evaluator
from heuristic_core.models.components import kept_count
from heuristic_core.pruning.learner import PruningRun
from heuristic_core.pruning.loop import PruningResult
from heuristic_core.pruning.pruner import Pruner
from heuristic_core.pruning.subnetwork import FailedRun, Subnetwork, load_run
from heuristic_core.tables.identity import Identity
from heuristic_core.tables.parquet import write_table


def pack_subnetworks(
    checkpoint: Input,
    means: Input,
    logits: Input,
    train: Input,
    evaluation: Input,
    first: Input,
    prune: Prune,
    mechanism: Mechanism,
    analysis: Analysis,
    run: Annotated[Identity, Fields("ft_seed", "step", "sparsity")],
    packing: Output,
    unfinished: Unfinished,
    device: Device = "cpu",
    precision: PrecisionSetting = "float32",
) -> None:
    """Count the subnetworks that fit into a model side by side.

    Each round closes the heads of all earlier subnetworks and prunes again, until a subnetwork is not faithful.
    Controls close as many random heads in each layer.

    Args:
        checkpoint: Folder of the fine-tuned model.
        means: Component means (safetensors).
        logits: The full model's logits on the training pairs (safetensors).
        train: Encoded training pairs (safetensors).
        evaluation: Encoded evaluation pairs (safetensors).
        first: Subnetwork of the first round (JSON).
        prune: Settings of pruning.
        mechanism: Settings of analyses that depend on the core.
        analysis: Settings of the analysis.
        run: Identity of the checkpoint, and the sparsity.
        packing: Where to write the rounds (Parquet).
        unfinished: Folder of the state from which the job resumes.
        device: Device of the model.
        precision: Precision of evaluation.
    """
    settings, first_run = mechanism.core_free, load_run(first)
    pruner = Pruner(checkpoint, means, logits, train, prune, device)
    evaluator = Evaluator(checkpoint, means, evaluation, analysis, device, precision)
    round_evaluator = _RoundEvaluator(evaluator, analysis, prune.controller)
    run = run._replace(seed=first_run.identity.seed)
    full, size = round_evaluator.accuracy(()), kept_count(len(pruner.grid), run.sparsity)
    rounds, number = [round_evaluator.judge(1, 0, (), first_run, None)], 1
    while rounds[-1].faithful(full, settings.recovery) and (closed := close_next_round(rounds[-1], pruner.grid, size)):
        number += 1
        draw = numpy_generator(analysis.seed, "packing", run.ft_seed, number)
        sets = [*(draw_matched_set(closed, pruner.grid, draw) for _ in range(settings.packing_controls)), closed]
        runs = [PruningRun(run.sparsity, run.seed, heads) for heads in sets]
        learned = _prune(pruner, runs, prune.together, unfinished / f"round{number}")
        for control, pruned in enumerate(learned, start=1):
            result, trace = pruner.make_subnetwork(pruned, run), pd.DataFrame(pruned.trace)
            control %= len(sets)  # the last set is no control
            rounds.append(round_evaluator.judge(number, control, pruned.run.closed, result, trace))
    columns = {name: getattr(run, name) for name in ("study", "model", "task", "ft_seed", "step", "sparsity", "seed")}
    write_table("packing", compute_packing(rounds, pruner.grid, full, settings.recovery, columns), packing)


class _RoundEvaluator:
    """Evaluator of rounds by their in-domain accuracy."""

    def __init__(self, evaluator: Evaluator, analysis: Analysis, controller: str):
        self._evaluator, self._analysis, self._controller = evaluator, analysis, controller

    def accuracy(self, removed: Sequence[int]) -> float:
        """Compute in-domain accuracy without the components `removed`, percent."""
        return compute_id_accuracy(
            self._evaluator.predict_without(removed), self._analysis.class_rule, self._analysis.subsets
        )

    def judge(
        self,
        number: int,
        control: int,
        closed: Sequence[int],
        result: Subnetwork | FailedRun,
        trace: pd.DataFrame | None,
    ) -> Round:
        """Evaluate the pruning run of round `number` with the components `closed`.

        Args:
            number: Number of the round, from 1.
            control: Number of the random set that is closed; 0 for the heads of earlier subnetworks.
            closed: Component indices of closed heads.
            result: The subnetwork, or the failed run.
            trace: Trace of the run; None if unknown.
        """
        if isinstance(result, FailedRun):
            return Round(number, control, tuple(closed), None, None, result.reason)
        gates, missed = (None, None) if trace is None else check_end(result, trace, self._controller)
        value = self.accuracy(result.list_removed(self._evaluator.model.grid))
        return Round(number, control, tuple(closed), result.kept, value, missed, gates)


def _prune(pruner: Pruner, runs: Sequence[PruningRun], together: int, state: Path) -> list[PruningResult]:
    """Prune several runs.

    Args:
        pruner: The pruner.
        runs: The runs.
        together: Number of runs in a pass.
        state: Path of the saved states, without number and suffix.
    """
    learned = []
    for k in range(0, len(runs), together):
        learned += pruner.prune(runs[k : k + together], state.with_suffix(f".{k}.safetensors"))
    return learned
