"""Evaluation: the class logits of every pair of a set, and how they compare with its labels."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from heuristic_core.ablation import ComponentMeans, Mask, Resampled, gates_without, zeros
from heuristic_core.models.batches import PairTensors
from heuristic_core.models.model import Model
from heuristic_core.progress import Progress
from heuristic_core.tasks.encoded import Subset

# Padded tokens per evaluation batch: on a CPU few enough that activations stay in its cache, and pairs are alike.
BATCH_TOKENS = {"cpu": 512, "cuda": 65536}


@torch.no_grad()
def all_logits(model: Model, pairs: PairTensors, mask: Mask | None = None) -> Tensor:
    """Class logits of every pair, float32 [n, classes] on the host, in the set's order."""
    logits = torch.empty(len(pairs), len(model.labels), device=model.device)
    progress, done = Progress("evaluate", len(pairs), unit="pairs", brief=True), 0
    for index in pairs.by_length(BATCH_TOKENS[model.device.type]):
        batch = pairs.batch(index)
        edit = mask.on(batch) if mask else None
        logits[pairs.on_device(index)] = model.logits(batch, edit, every_row=bool(mask) and mask.every_row)
        done += len(index)
        progress.at(done)
    return logits.cpu()


def subnetwork_logits(
    model: Model,
    pairs: PairTensors,
    removed: Sequence[int],
    means: ComponentMeans,
    ablation: str = "mean",
    seed: int = 0,
) -> Tensor:
    """Class logits of every pair, float32 [n, classes], without the components at the indices `removed`.

    ablation: what takes their place: "mean", "zero", or "resample" (their activations on other pairs, drawn by `seed`).
    With constants in their place the physically smaller model runs.
    """
    if ablation == "resample":
        gates = gates_without(removed, model.grid).to(model.device)
        return all_logits(model, pairs, Mask(gates, Resampled(model, pairs, seed), model.grid))
    constant = zeros(model) if ablation == "zero" else means.to(model)
    return all_logits(model.without(removed, constant.heads, constant.mlps), pairs)


def predictions(logits: np.ndarray, labels: np.ndarray, subsets: tuple[Subset, ...]) -> dict[str, np.ndarray]:
    """Per pair: subset, group, family, example, label, prediction, correct and logits (columns of table `predictions`).

    logits: [n, classes]. labels: [n], each in the label space of its subset. The class is taken first, then merged
    into the subset's labels: HANS has two, so neutral and contradiction both count as non-entailment.
    """
    classes = logits.argmax(-1)
    counted = np.concatenate([np.asarray(s.merge)[classes[s.start : s.stop]] for s in subsets])
    sizes = [s.stop - s.start for s in subsets]
    return {
        "subset": np.repeat([s.name for s in subsets], sizes),
        "group": np.repeat([s.group for s in subsets], sizes),
        "family": np.repeat(np.array([s.family for s in subsets], dtype=object), sizes),
        "example": np.arange(len(labels)),
        "label": labels,
        "prediction": classes,
        "correct": counted == labels,
        "logits": list(logits),
    }


def subset_accuracies(logits: np.ndarray, labels: np.ndarray, subsets: tuple[Subset, ...]) -> list[dict]:
    """Per subset: subset, group, family, n and accuracy in percent."""
    classes = logits.argmax(-1)
    rows = []
    for s in subsets:
        part = slice(s.start, s.stop)
        correct = np.asarray(s.merge)[classes[part]] == labels[part]
        accuracy = 100 * float(correct.mean())
        rows.append({"subset": s.name, "group": s.group, "family": s.family, "n": len(correct), "accuracy": accuracy})
    return rows
