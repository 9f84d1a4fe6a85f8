"""Predictions of subnetworks."""

import logging
from typing import Literal

from heuristic_core.common.errors import InputError
from heuristic_core.common.roles import Input, Output
from heuristic_core.config.blocks import Device, PrecisionSetting
from heuristic_core.data.encoded import Encoded
from heuristic_core.interventions.evaluate import draw_donors, make_predictions, subnetwork_logits
from heuristic_core.models.ablation import ComponentMeans
from heuristic_core.models.batches import PairTensors
from heuristic_core.models.implementation import load_model
from heuristic_core.pruning.subnetwork import FailedRun, load_run
from heuristic_core.tables.parquet import write_table

LOGGER = logging.getLogger(__name__)


def evaluate_subnetwork(
    checkpoint: Input,
    means: Input,
    subnetwork: Input,
    evaluation: Input,
    predictions: Output,
    train: Input | None = None,
    ablation: Literal["mean", "zero", "resample"] = "mean",
    ablation_seed: int = 0,
    device: Device = "cpu",
    precision: PrecisionSetting = "float32",
) -> None:
    """Predict every evaluation pair with one subnetwork; a failed run has no predictions.

    Args:
        checkpoint: Folder of the fine-tuned model.
        means: Component means (safetensors).
        subnetwork: The subnetwork (JSON).
        evaluation: Encoded evaluation pairs (safetensors).
        predictions: Where to write predictions (Parquet).
        train: Encoded training pairs, from which resample ablation takes activations.
        ablation: Replacement of removed components.
        ablation_seed: Seed of the draw of training pairs for resample ablation.
        device: Device of the model.
        precision: Precision of the model.

    Raises:
        InputError: Resample ablation without training pairs.
    """
    run = load_run(subnetwork)
    if isinstance(run, FailedRun):
        LOGGER.warning("no predictions: this run %s", run.reason)
        return write_table("predictions", [], predictions)
    model, encoded, donors = load_model(checkpoint, device, precision), Encoded.load(evaluation), None
    if ablation == "resample":
        if not train:
            raise InputError("--ablation resample takes activations from training pairs; pass them as --train")
        drawn = draw_donors(Encoded.load(train), len(encoded), ablation_seed, 0)
        donors = PairTensors(drawn, model.pad, model.device)
    pairs, removed = PairTensors(encoded, model.pad, model.device), run.list_removed(model.grid)
    logits = subnetwork_logits(model, pairs, removed, ComponentMeans.load(means), ablation, donors)
    columns = make_predictions(logits.numpy(), encoded)
    write_table("predictions", run.identity.as_columns(len(encoded)) | columns, predictions)
