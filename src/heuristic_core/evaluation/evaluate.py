"""Evaluation: the class logits of every pair of a set, and how they compare with its labels."""

import logging
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from heuristic_core.common.errors import InputError
from heuristic_core.common.progress import Progress
from heuristic_core.common.seeds import torch_generator
from heuristic_core.models.ablation import ComponentMeans, Mask, Resampled, gates_without, zeros
from heuristic_core.models.batches import PairTensors
from heuristic_core.models.micro_batches import BATCH_TOKENS
from heuristic_core.models.model import Model
from heuristic_core.tasks.encoded import Encoded

OF_DONORS = ("resample", "counterfactual")  # kinds of ablation: of training pairs, of minimal pairs
LOGGER = logging.getLogger(__name__)


@torch.no_grad()
def all_logits(model: Model, pairs: PairTensors, mask: Mask | None = None) -> Tensor:
    """Class logits of every pair, float32 [n, classes] on the host, in the set's order.

    Raises InputError where one is not finite: its argmax would still be some class.
    """
    logits = torch.empty(len(pairs), len(model.labels), device=model.device)
    progress, done = Progress("evaluate", len(pairs), unit="pairs", brief=True), 0
    for index in pairs.by_length(BATCH_TOKENS[model.device.type]):
        batch = pairs.batch(index)
        edit = mask.on(batch) if mask else None
        logits[pairs.on_device(index)] = model.logits(batch, edit, every_row=bool(mask) and mask.every_row)
        done += len(index)
        progress.at(done)
    return finite(logits.cpu(), f"logits in {str(model.dtype).removeprefix('torch.')}")


def finite(logits: Tensor, what: str) -> Tensor:
    """`logits` [n, classes] as they are. Raises InputError that names `what` they are where one is not finite."""
    if count := int((~logits.isfinite().all(-1)).sum()):
        raise InputError(
            f"{what}: not finite on {count} of {len(logits)} pairs: the checkpoint is broken, or its precision too low "
            "(precision = 'float32' has the widest range)"
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
    """Class logits of every pair, float32 [n, classes], without the components at the indices `removed`.

    ablation: what takes their place: "mean", "zero", or, with "resample" and "counterfactual", their activations on
    `donors`, one for each pair. With constants in their place the physically smaller model runs.
    """
    if ablation in OF_DONORS and len(removed):
        gates = gates_without(removed, model.grid).to(model.device)
        return all_logits(model, pairs, Mask(gates, Resampled(model, pairs, donors), model.grid))
    constant = zeros(model) if ablation == "zero" else means.to(model)
    return all_logits(model.without(removed, constant.heads, constant.mlps), pairs)


def drawn_donors(train: Encoded, count: int, seed: int, draw: int) -> Encoded:
    """`count` pairs of `train`, drawn with replacement: those whose activations resample ablation puts in place.

    Training pairs, as means are: next to all pairs of an evaluation set may carry the overlap, so that a head that
    tells overlap would be given the same again.
    """
    return train.take(torch.randint(len(train), (count,), generator=torch_generator("donors", seed, draw)).numpy())


def predictions(logits: np.ndarray, evaluation: Encoded) -> dict[str, np.ndarray]:
    """Per pair of `evaluation`: what table `predictions` says of it, from column `subset` on. logits: [n, classes]."""
    subsets = evaluation.subsets
    sizes = [s.stop - s.start for s in subsets]
    return {
        "subset": np.repeat([s.name for s in subsets], sizes),
        "group": np.repeat([s.group for s in subsets], sizes),
        "family": np.repeat(np.array([s.family for s in subsets], dtype=object), sizes),
        "example": np.arange(len(evaluation)),
        "template": evaluation.template_names(),
        "label": evaluation.labels,
        "prediction": logits.argmax(-1),
        **judged(logits, evaluation),
        "logits": list(logits),
    }


def judged(logits: np.ndarray, evaluation: Encoded) -> dict[str, np.ndarray]:
    """Per pair of `evaluation`: correct, correct_merged and log_odds as table `predictions` has them.

    logits: [n, classes]. A subset with fewer labels than the model has classes, as HANS has, counts several classes as
    one label. `correct` takes the class first, then merges (the released code:
    neutral and contradiction are non-entailment); `correct_merged` adds their probabilities up first.
    """
    labels, classes = evaluation.labels, logits.argmax(-1)
    log_odds, merged, counted = np.empty(len(labels)), np.empty(len(labels), bool), np.empty(len(labels), np.int64)
    for s in evaluation.subsets:
        part = slice(s.start, s.stop)
        counted[part] = np.asarray(s.merge)[classes[part]]
        log_odds[part], merged[part] = _true_label(logits[part], labels[part], np.asarray(s.merge))
    return {"correct": counted == labels, "correct_merged": merged, "log_odds": log_odds.astype(np.float32)}


def _true_label(logits: np.ndarray, labels: np.ndarray, merge: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Log odds of the true label [n], and whether it has the highest probability [n], once classes are merged."""
    logits = logits.astype(np.float64)
    of_label = np.stack(
        [np.logaddexp.reduce(logits[:, merge == label], axis=1) for label in range(merge.max() + 1)], axis=1
    )  # an empty label has -inf
    true = np.take_along_axis(of_label, labels[:, None], axis=1)[:, 0]
    others = of_label.copy()
    np.put_along_axis(others, labels[:, None], -np.inf, axis=1)
    return true - np.logaddexp.reduce(others, axis=1), of_label.argmax(axis=1) == labels


def log_accuracies(step: int, columns: dict[str, np.ndarray]) -> None:
    """Tell the accuracy of every group of pairs; columns: as :func:`predictions` gives them."""
    for group in dict.fromkeys(columns["group"].tolist()):
        share = columns["correct"][columns["group"] == group].mean()
        LOGGER.info("step %d: %s accuracy %.1f", step, group, 100 * share)
