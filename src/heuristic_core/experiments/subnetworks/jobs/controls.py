"""Predictions of subnetworks that were not learned."""

from typing import Annotated

import pyarrow.parquet as pq

from heuristic_core.common.atomic import replace_atomically
from heuristic_core.common.draws import numpy_generator
from heuristic_core.common.progress import Progress
from heuristic_core.common.roles import Fields, Input, Output
from heuristic_core.config.blocks import Device, PrecisionSetting
from heuristic_core.data.encoded import Encoded
from heuristic_core.experiments.subnetworks.analysis.controls import permute_heads
from heuristic_core.experiments.subnetworks.config.analysis import Analysis
from heuristic_core.interventions.evaluate import make_predictions, subnetwork_logits
from heuristic_core.models.ablation import ComponentMeans
from heuristic_core.models.batches import PairTensors
from heuristic_core.models.components import kept_count
from heuristic_core.models.implementation import load_model
from heuristic_core.pruning.hard_concrete import keep_largest
from heuristic_core.pruning.importance import gate_gradients, normalise_by_layer
from heuristic_core.pruning.subnetwork import Subnetwork, load_run
from heuristic_core.tables.identity import Identity
from heuristic_core.tables.parquet import as_table
from heuristic_core.tables.schemas import get_schema

TABLE = "control_predictions"


def evaluate_controls(
    checkpoint: Input,
    means: Input,
    train: Input,
    evaluation: Input,
    subnetworks: list[Input],
    analysis: Analysis,
    run: Annotated[Identity, Fields("ft_seed", "step")],
    predictions: Output,
    device: Device = "cpu",
    precision: PrecisionSetting = "float32",
) -> None:
    """Predict with subnetworks that were not learned: random ones, and ones of gradient importance.

    Args:
        checkpoint: Folder of the fine-tuned model.
        means: Component means (safetensors).
        train: Encoded training pairs (safetensors).
        evaluation: Encoded evaluation pairs (safetensors).
        subnetworks: The learned subnetworks (JSON).
        analysis: Settings of the analysis.
        run: Identity of the checkpoint.
        predictions: Where to write predictions (Parquet).
        device: Device of the model.
        precision: Precision of the model; importance is always computed in float32.
    """
    model = load_model(checkpoint, device, precision)
    encoded = Encoded.load(evaluation).subsample(analysis.control_pairs, seed=analysis.seed)
    component_means, pairs = ComponentMeans.load(means), PairTensors(encoded, model.pad, model.device)
    learned = [subnetwork for subnetwork in map(load_run, subnetworks) if isinstance(subnetwork, Subnetwork)]

    controls = []  # (cell, control, components)
    for subnetwork in learned:
        cell = subnetwork.identity
        draw = numpy_generator(analysis.seed, "random subnetwork", run.ft_seed, f"{cell.sparsity:g}", cell.seed)
        controls.append((cell, "random", permute_heads(subnetwork.kept, model.grid, draw)))
    training_pairs = Encoded.load(train)
    training_pairs = training_pairs.slice_pairs(0, min(analysis.importance_pairs, len(training_pairs)))
    exact = load_model(checkpoint, device)  # gradients this small would vanish in fewer digits
    gradients = gate_gradients(exact, PairTensors(training_pairs, model.pad, model.device), component_means)
    importance = normalise_by_layer(gradients, model.grid)
    for sparsity in sorted({subnetwork.identity.sparsity for subnetwork in learned}):
        largest = keep_largest(importance, kept_count(len(model.grid), sparsity))
        controls.append((run._replace(sparsity=sparsity, seed=0), "importance", largest))

    progress = Progress("evaluate controls", len(controls))
    with (
        replace_atomically(predictions) as partial,
        pq.ParquetWriter(partial, get_schema(TABLE), compression="zstd") as file,
    ):
        for done, (cell, control, components) in enumerate(controls, start=1):
            removed = sorted(set(range(len(model.grid))) - set(components))
            columns = make_predictions(subnetwork_logits(model, pairs, removed, component_means).numpy(), encoded)
            columns |= cell.as_columns(len(pairs)) | {"control": [control] * len(pairs)}
            file.write_table(as_table(TABLE, columns))
            progress.update(done)
