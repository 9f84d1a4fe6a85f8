"""Predictions of subnetworks."""

import logging
from typing import Literal

from heuristic_core.common.errors import InputError
from heuristic_core.common.roles import Input, Output, require_same_length
from heuristic_core.config.blocks import Device, PrecisionSetting
from heuristic_core.data.encoded import Encoded
from heuristic_core.interventions.evaluate import draw_donors, make_predictions, subnetwork_logits
from heuristic_core.models.ablation import ComponentMeans
from heuristic_core.models.batches import PairTensors
from heuristic_core.models.implementation import load_model
from heuristic_core.pruning.subnetwork import FailedRun, load_run
from heuristic_core.tables.parquet import write_table

LOGGER = logging.getLogger(__name__)


def evaluate_subnetworks(
    checkpoint: Input,
    means: Input,
    subnetworks: list[Input],
    evaluation: Input,
    predictions: list[Output],
    train: Input | None = None,
    ablation: Literal["mean", "zero", "resample"] = "mean",
    ablation_seed: int = 0,
    device: Device = "cpu",
    precision: PrecisionSetting = "float32",
) -> None:
    """Predict every evaluation pair with each of several subnetworks; a failed run has no predictions.

    Args:
        checkpoint: Folder of the fine-tuned model.
        means: Component means (safetensors).
        subnetworks: The subnetworks (JSON).
        evaluation: Encoded evaluation pairs (safetensors).
        predictions: Where to write predictions (Parquet), one file for each subnetwork.
        train: Encoded training pairs, from which resample ablation takes activations.
        ablation: Replacement of removed components.
        ablation_seed: Seed of the draw of training pairs for resample ablation.
        device: Device of the model.
        precision: Precision of the model.

    Raises:
        InputError: Resample ablation without training pairs, or not one file for each subnetwork.
    """
    require_same_length(subnetworks=subnetworks, predictions=predictions)
    model, encoded, donors = load_model(checkpoint, device, precision), Encoded.load(evaluation), None
    if ablation == "resample":
        if not train:
            raise InputError("--ablation resample takes activations from training pairs; pass them as --train")
        drawn = draw_donors(Encoded.load(train), len(encoded), ablation_seed, 0)
        donors = PairTensors(drawn, model.pad, model.device)
    pairs, component_means = PairTensors(encoded, model.pad, model.device), ComponentMeans.load(means)
    for subnetwork, path in zip(subnetworks, predictions, strict=True):
        run = load_run(subnetwork)
        if isinstance(run, FailedRun):
            LOGGER.warning("%s has no predictions: this run %s", subnetwork, run.reason)
            write_table("predictions", [], path)
            continue
        removed = run.list_removed(model.grid)
        logits = subnetwork_logits(model, pairs, removed, component_means, ablation, donors)
        columns = make_predictions(logits.numpy(), encoded)
        write_table("predictions", run.identity.as_columns(len(encoded)) | columns, path)
