"""What every pruning run of a checkpoint shares."""

from typing import Annotated

from safetensors.torch import save

from heuristic_core.common.atomic import write_bytes
from heuristic_core.common.roles import Fields, Input, Output
from heuristic_core.config.blocks import Device, PrecisionSetting
from heuristic_core.data.encoded import Encoded
from heuristic_core.interventions.evaluate import all_logits, make_predictions
from heuristic_core.models.ablation import component_means
from heuristic_core.models.batches import PairTensors
from heuristic_core.models.implementation import load_model
from heuristic_core.models.micro_batches import BATCH_TOKENS
from heuristic_core.tables.identity import Identity
from heuristic_core.tables.parquet import write_table


def evaluate_full_model(
    checkpoint: Input,
    train: Input,
    evaluation: Input,
    run: Annotated[Identity, Fields("ft_seed", "step")],
    means: Output,
    logits: Output,
    predictions: Output,
    examples: int | None = None,
    mean_examples: int | None = None,
    device: Device = "cpu",
    precision: PrecisionSetting = "float32",
) -> None:
    """Compute what every pruning run of a checkpoint shares: component means, the full model's logits and predictions.

    Args:
        checkpoint: Folder of the fine-tuned model.
        train: Encoded training pairs (safetensors).
        evaluation: Encoded evaluation pairs (safetensors).
        run: Identity of the checkpoint.
        means: Where to write component means (safetensors).
        logits: Where to write logits on the training pairs that pruning uses (safetensors).
        predictions: Where to write predictions on the evaluation pairs (Parquet).
        examples: Training pairs that pruning draws from; default: all.
        mean_examples: Training pairs that means are taken over; default: all.
        device: Device of the model.
        precision: Precision of the model.
    """
    model = load_model(checkpoint, device, precision)
    training_pairs, generate_evaluation_pairs = Encoded.load(train), Encoded.load(evaluation)
    sample, used, held_out = (
        PairTensors(pairs, model.pad, model.device)
        for pairs in (training_pairs.head(mean_examples), training_pairs.head(examples), generate_evaluation_pairs)
    )
    train_logits, evaluation_logits = (all_logits(model, pairs) for pairs in (used, held_out))
    component_means(model, sample, sample.split_by_length(BATCH_TOKENS[device])).save(means)
    write_bytes(logits, save({"logits": train_logits}))
    columns = make_predictions(evaluation_logits.numpy(), generate_evaluation_pairs)
    write_table("predictions", run.as_columns(len(generate_evaluation_pairs)) | columns, predictions)
