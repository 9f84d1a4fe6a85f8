"""Accuracy of the empty circuit."""

from typing import Annotated

from heuristic_core.common.roles import Fields, Input, Output
from heuristic_core.config.blocks import Device, PrecisionSetting
from heuristic_core.experiments.subnetworks.config.analysis import Analysis
from heuristic_core.experiments.subnetworks.jobs.evaluator import Evaluator
from heuristic_core.tables.columns import RUN
from heuristic_core.tables.identity import Identity
from heuristic_core.tables.parquet import write_table


def evaluate_empty_circuit(
    checkpoint: Input,
    means: Input,
    evaluation: Input,
    analysis: Analysis,
    run: Annotated[Identity, Fields("ft_seed", "step")],
    empty_circuit: Output,
    device: Device = "cpu",
    precision: PrecisionSetting = "float32",
) -> None:
    """Compute the accuracy of a checkpoint's empty circuit: its model with all components replaced by their means.

    Args:
        checkpoint: Folder of the fine-tuned model.
        means: Component means (safetensors).
        evaluation: Encoded evaluation pairs (safetensors).
        analysis: Settings of the analysis.
        run: Identity of the checkpoint.
        empty_circuit: Where to write accuracies (Parquet).
        device: Device of the model.
        precision: Precision of the model.
    """
    evaluator = Evaluator(checkpoint, means, evaluation, analysis, device, precision)
    scores = evaluator.scores(evaluator.predict_without(range(len(evaluator.model.grid))))
    columns = {name: getattr(run, name) for name in (*RUN, "step")}
    write_table("empty_circuit", scores.drop(columns="log_odds").assign(**columns), empty_circuit)
