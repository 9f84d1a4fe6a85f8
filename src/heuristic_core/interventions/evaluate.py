"""Evaluation: the class logits of every pair of a set, and how they compare with its labels."""

import logging
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from heuristic_core.common.errors import InputError
from heuristic_core.common.progress import Progress
from heuristic_core.common.seeds import torch_generator
from heuristic_core.data.encoded import Encoded
from heuristic_core.models.ablation import ComponentMeans, DonorActivations, Mask, gates_without, zero_means
from heuristic_core.models.batches import PairTensors
from heuristic_core.models.micro_batches import BATCH_TOKENS
from heuristic_core.models.model import Model

DONOR_ABLATIONS = ("resample", "counterfactual")  # donors are training pairs, or minimal pairs
LOGGER = logging.getLogger(__name__)


@torch.no_grad()
def all_logits(model: Model, pairs: PairTensors, mask: Mask | None = None) -> Tensor:
    """Compute class logits of every pair.

    Args:
        model: The full model.
        pairs: Encoded pairs.
        mask: The subnetwork to run; default: the full model.

    Returns:
        float32 [n, classes] on the host, in the order of `pairs`.

    Raises:
        InputError: A logit is NaN or infinite.
    """
    logits = torch.empty(len(pairs), len(model.labels), device=model.device)
    progress, done = Progress("evaluate", len(pairs), unit="pairs", brief=True), 0
    for index in pairs.split_by_length(BATCH_TOKENS[model.device.type]):
        batch = pairs.batch(index)
        edit = mask.for_batch(batch) if mask else None
        logits[pairs.to_device(index)] = model.logits(batch, edit, all_positions=bool(mask) and mask.all_positions)
        done += len(index)
        progress.update(done)
    return require_finite(logits.cpu(), f"logits in {str(model.dtype).removeprefix('torch.')}")


def require_finite(logits: Tensor, description: str) -> Tensor:
    """Return logits unchanged if all are finite.

    Args:
        logits: Logits [n, classes].
        description: What they are, for the message of the error.

    Raises:
        InputError: A logit is NaN or infinite; the message contains `description`.
    """
    if count := int((~logits.isfinite().all(-1)).sum()):
        raise InputError(
            f"{description}: NaN or infinity on {count} of {len(logits)} pairs; the checkpoint is broken or the "
            "precision too low (precision = 'float32' has the widest range)"
        )
    return logits


def subnetwork_logits(
    model: Model,
    pairs: PairTensors,
    removed: Sequence[int],
    means: ComponentMeans,
    ablation: str = "mean",
    donors: PairTensors | None = None,
) -> Tensor:
    """Compute class logits of every pair without the components at the indices `removed`.

    For mean and zero ablation, the physically smaller model runs.

    Args:
        model: The full model.
        pairs: Encoded pairs.
        removed: Component indices.
        means: Component means.
        ablation: Replacement of removed components: "mean", "zero", or their activations on `donors` ("resample",
            "counterfactual").
        donors: One donor per pair.

    Returns:
        float32 [n, classes] on the host.
    """
    if ablation in DONOR_ABLATIONS and len(removed):
        gates = gates_without(removed, model.grid).to(model.device)
        return all_logits(model, pairs, Mask(gates, DonorActivations(model, pairs, donors), model.grid))
    constant = zero_means(model) if ablation == "zero" else means.to(model)
    return all_logits(model.remove_components(removed, constant.heads, constant.mlps), pairs)


def draw_donors(train: Encoded, count: int, seed: int, draw: int) -> Encoded:
    """Draw training pairs with replacement, as donors of resample ablation.

    Like means, donors come from the training pairs: nearly all pairs of an evaluation set may have the overlap, and a
    head that detects overlap would then get the same activation again.

    Args:
        train: Encoded training pairs.
        count: Number of donors.
        seed: Seed of all draws.
        draw: Number of this draw, which has a generator of its own.
    """
    return train.take(torch.randint(len(train), (count,), generator=torch_generator("donors", seed, draw)).numpy())


def make_predictions(logits: np.ndarray, evaluation: Encoded) -> dict[str, np.ndarray]:
    """Return the columns of table `predictions` from `subset` on, one row per pair; `logits` are [n, classes].

    Args:
        logits: [n, classes].
        evaluation: The n pairs.
    """
    subsets = evaluation.subsets
    sizes = [subset.stop - subset.start for subset in subsets]
    return {
        "subset": np.repeat([subset.name for subset in subsets], sizes),
        "group": np.repeat([subset.group for subset in subsets], sizes),
        "family": np.repeat(np.array([subset.family for subset in subsets], dtype=object), sizes),
        "example": np.arange(len(evaluation)),
        "template": evaluation.get_template_names(),
        "label": evaluation.labels,
        "prediction": logits.argmax(-1),
        **score_predictions(logits, evaluation),
        "logits": list(logits),
    }


def score_predictions(logits: np.ndarray, evaluation: Encoded) -> dict[str, np.ndarray]:
    """Compute columns correct, correct_merged and log_odds of table `predictions`.

    In a subset with fewer labels than the model has classes, such as HANS, several classes count as one label.
    `correct` takes the most probable class, then merges, as the paper's released code does (neutral and contradiction
    are non-entailment). `correct_merged` adds up probabilities first.

    Args:
        logits: [n, classes].
        evaluation: The n pairs.
    """
    labels, classes = evaluation.labels, logits.argmax(-1)
    log_odds, merged, predicted = np.empty(len(labels)), np.empty(len(labels), bool), np.empty(len(labels), np.int64)
    for subset in evaluation.subsets:
        part = slice(subset.start, subset.stop)
        predicted[part] = np.asarray(subset.merge)[classes[part]]
        log_odds[part], merged[part] = _score_true_label(logits[part], labels[part], np.asarray(subset.merge))
    return {"correct": predicted == labels, "correct_merged": merged, "log_odds": log_odds.astype(np.float32)}


def _score_true_label(logits: np.ndarray, labels: np.ndarray, merge: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the log odds of the true label, and whether it is the most probable one, after merging, [n] each."""
    logits = logits.astype(np.float64)
    label_logits = np.stack(
        [np.logaddexp.reduce(logits[:, merge == label], axis=1) for label in range(merge.max() + 1)], axis=1
    )  # a label without classes gets -inf
    true = np.take_along_axis(label_logits, labels[:, None], axis=1)[:, 0]
    others = label_logits.copy()
    np.put_along_axis(others, labels[:, None], -np.inf, axis=1)
    return true - np.logaddexp.reduce(others, axis=1), label_logits.argmax(axis=1) == labels


def log_accuracies(step: int, columns: dict[str, np.ndarray]) -> None:
    """Log the accuracy of every group of pairs, in percent.

    Args:
        step: Step of fine-tuning.
        columns: Columns group and correct of table `predictions`, [n] each.
    """
    for group in dict.fromkeys(columns["group"].tolist()):
        share = columns["correct"][columns["group"] == group].mean()
        LOGGER.info("step %d: %s accuracy %.1f", step, group, 100 * share)
