"""Subnetworks between two learned ones."""

from typing import Annotated

from heuristic_core.common.roles import Fields, Input, Output
from heuristic_core.config.blocks import Device, PrecisionSetting
from heuristic_core.experiments.subnetworks.analysis.interpolation import compute_interpolation
from heuristic_core.experiments.subnetworks.analysis.random_masks import list_learned_masks
from heuristic_core.experiments.subnetworks.config.analysis import Analysis
from heuristic_core.experiments.subnetworks.config.mechanism import Mechanism
from heuristic_core.experiments.subnetworks.jobs.evaluator import Evaluator
from heuristic_core.tables.identity import Identity
from heuristic_core.tables.parquet import read_table, write_table


def interpolate_subnetworks(
    components: Input,
    checkpoint: Input,
    means: Input,
    evaluation: Input,
    mechanism: Mechanism,
    analysis: Analysis,
    run: Annotated[Identity, Fields("ft_seed", "step")],
    table: Output,
    device: Device = "cpu",
    precision: PrecisionSetting = "float32",
) -> None:
    """Evaluate subnetworks between the mid-sparsity subnetwork that generalises least and the one that does most.

    Args:
        components: Components of the sound mid-sparsity subnetworks (Parquet).
        checkpoint: Folder of the fine-tuned model.
        means: Component means (safetensors).
        evaluation: Encoded evaluation pairs (safetensors).
        mechanism: Which analyses depend on the core.
        analysis: Settings of the analysis.
        run: Which checkpoint.
        table: Where to write the scores of subnetworks (Parquet).
        device: Where the model runs.
        precision: Of the model.
    """
    pairs = mechanism.interpolation.pairs
    evaluator = Evaluator(checkpoint, means, evaluation, analysis, device, precision, pairs)
    grid = evaluator.model.grid
    identity = {name: values[0] for name, values in run.as_columns(1, "step").items()}

    def predict(kept):
        return evaluator.predict_without(set(range(len(grid))) - kept)

    rows = compute_interpolation(list_learned_masks(read_table(components)), predict, grid, analysis, identity)
    write_table("interpolation", rows, table)
