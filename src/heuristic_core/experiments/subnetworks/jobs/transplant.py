"""Subnetworks with the weights of other checkpoints."""

from collections.abc import Iterator
from typing import Annotated

import pandas as pd

from heuristic_core.common.roles import Fields, Input, Output, require_same_length
from heuristic_core.config.blocks import Device, PrecisionSetting
from heuristic_core.experiments.subnetworks.analysis.transplant import compute_transplant
from heuristic_core.experiments.subnetworks.config.analysis import Analysis
from heuristic_core.experiments.subnetworks.config.mechanism import Mechanism
from heuristic_core.experiments.subnetworks.jobs.evaluator import Evaluator
from heuristic_core.pruning.subnetwork import FailedRun, Subnetwork, load_run
from heuristic_core.tables.identity import Identity
from heuristic_core.tables.parquet import write_table


def transplant_subnetworks(
    steps: list[int],
    checkpoints: list[Input],
    means: list[Input],
    subnetworks: list[Input],
    evaluation: Input,
    mechanism: Mechanism,
    analysis: Analysis,
    run: Annotated[Identity, Fields("ft_seed", "sparsity")],
    transplant: Output,
    device: Device = "cpu",
    precision: PrecisionSetting = "float32",
) -> None:
    """Give the subnetworks that pruning finds at each checkpoint the weights and means of every checkpoint.

    Args:
        steps: Steps of the checkpoints.
        checkpoints: Folders of the fine-tuned models, one for each step.
        means: Component means of each (safetensors).
        subnetworks: Subnetworks of all checkpoints (JSON).
        evaluation: Encoded evaluation pairs (safetensors).
        mechanism: Settings of analyses that depend on the core.
        analysis: Settings of the analysis.
        run: Identity of the fine-tuning run, and the sparsity.
        transplant: Where to write accuracies (Parquet).
        device: Device of the model.
        precision: Precision of the model.
    """
    require_same_length(steps=steps, checkpoints=checkpoints, means=means)
    results = [load_run(path) for path in subnetworks]
    learned = [result for result in results if isinstance(result, Subnetwork)]
    failed = [result for result in results if isinstance(result, FailedRun)]
    parts = []
    for step, checkpoint, means_of_step in zip(steps, checkpoints, means, strict=True):
        pairs = mechanism.transplant.pairs
        evaluator = Evaluator(checkpoint, means_of_step, evaluation, analysis, device, precision, pairs)
        parts += [rows.assign(step=step) for rows in _scores(evaluator, learned)]
    write_table("transplant", compute_transplant(pd.concat(parts), failed, run, analysis.subsets), transplant)


def _scores(evaluator: Evaluator, subnetworks: list[Subnetwork]) -> Iterator[pd.DataFrame]:
    """Yield accuracies by subset of the full model and of every subnetwork."""
    yield evaluator.scores(evaluator.predict_edited(None)).assign(mask_step=0, seed=-1)
    for subnetwork in subnetworks:
        rows = evaluator.scores(evaluator.predict_without(subnetwork.list_removed(evaluator.model.grid)))
        yield rows.assign(mask_step=subnetwork.identity.step, seed=subnetwork.identity.seed)
