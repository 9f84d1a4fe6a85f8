"""What models lose without their heads: each head, and all, replaced by zero, its mean, or its context on other lists.

A head's context is what its attention collects, values' bias included, before the output matrix. The mean is over
training lists, for each position by itself. Resampled contexts are those on a training list in the place of every list,
at the same position. So both keep what a head says of the position, the rank of the number to come, as module `halves`
does, and take what it says of the list. Sentences of the heuristic core have no such positions; its mean is over all.
"""

from collections.abc import Iterator

import torch
from torch import Tensor

from heuristic_core.common.seeds import torch_generator
from heuristic_core.experiments.list_sorting.model import Heads, Parameters, Pass, run

BATCH = 512  # lists that go through a model at once
KINDS = ("zero", "mean", "resample")
BINS = 15  # of equal width, of the highest probability


@torch.no_grad()
def ablations(parameters: Parameters, tokens: Tensor, training: Tensor, seed: int) -> list[dict]:
    """One row per model and ablation: `model`, its position; `kind`, "none" or one of KINDS; `ablated`, the heads; and
    what :func:`measures` says.

    tokens: int64 [B, 2 L + 1], held-out sequences to measure on. training: int64 [n, 2 L + 1], the sequences that means
    are over and that resampled contexts are drawn from, with replacement, by `seed`.
    """
    heads = parameters["output"].shape[1]
    donors, rows = donors_for(tokens, training, seed), []
    for m in range(len(parameters["output"])):
        model = {name: value[m : m + 1] for name, value in parameters.items()}
        means = torch.cat([found.contexts for found in _parts(model, training)], 1).double().mean(1).float()
        replacing = {"zero": torch.zeros_like(means), "mean": means, "resample": donors}
        found = torch.cat([found.logits for found in _parts(model, tokens)], 1)
        rows.append({"model": m, "kind": "none", "ablated": []} | measures(found[0], tokens))
        for kind, reference in replacing.items():
            for ablated in sets_of(heads):
                found = without(model, tokens, ablated, reference)
                rows.append({"model": m, "kind": kind, "ablated": ablated} | measures(found[0], tokens))
    return rows


def donors_for(tokens: Tensor, training: Tensor, seed: int) -> Tensor:
    """For every sequence [B, 2 L + 1] a training sequence, drawn with replacement."""
    draws = torch_generator("list sorting donors", seed)
    return training[torch.randint(len(training), (len(tokens),), generator=draws)]


def sets_of(heads: int) -> list[list[int]]:
    """Which heads are ablated: each alone, then all where there are several."""
    return [[h] for h in range(heads)] + ([list(range(heads))] if heads > 1 else [])


@torch.no_grad()
def without(model: Parameters, tokens: Tensor, ablated: list[int], reference: Tensor) -> Tensor:
    """Logits [1, B, L, V] of one model with the heads `ablated` replaced.

    reference: contexts that broadcast against [1, B, L, H, w], the same for all lists; or donors, int64 [B, 2 L + 1],
    one sequence for every list.
    """
    keep = torch.ones(model["output"].shape[1])
    keep[ablated] = 0
    found = []
    for start in range(0, len(tokens), BATCH):
        part = slice(start, start + BATCH)
        resampled = not reference.is_floating_point()
        contexts = run(model, reference[part]).contexts if resampled else reference
        found.append(run(model, tokens[part], Heads(keep, contexts)).logits)
    return torch.cat(found, 1)


def measures(logits: Tensor, tokens: Tensor) -> dict[str, float]:
    """Of one model's logits [B, L, V] on sequences [B, 2 L + 1]:

    loss: cross-entropy, nats. token_accuracy, list_accuracy: shares of sorted numbers, and of whole lists, whose
    highest logits are right. entropy: of the distribution over tokens, nats. confidence: its highest probability.
    calibration_error: the expected calibration error (Guo et al. 2017) over BINS bins of the highest probability,
    mean of |accuracy - confidence| weighted by sorted numbers. All but list_accuracy are means over sorted numbers.
    """
    length = logits.shape[1]
    targets = tokens[:, length + 1 :]
    log_p = torch.log_softmax(logits.double(), -1)
    p = log_p.exp()
    confidence, chosen = p.max(-1)
    right = chosen == targets
    return {
        "loss": float(-log_p.gather(-1, targets[..., None]).mean()),
        "token_accuracy": float(right.double().mean()),
        "list_accuracy": float(right.all(-1).double().mean()),
        "entropy": float(-(p * log_p).sum(-1).mean()),
        "confidence": float(confidence.mean()),
        "calibration_error": calibration_error(confidence.flatten(), right.flatten()),
    }


def calibration_error(confidence: Tensor, right: Tensor) -> float:
    """Expected calibration error. confidence: [n], from 0 to 1; right: bool [n]. The last bin holds 1."""
    bins = (confidence * BINS).long().clamp(max=BINS - 1)
    gaps = torch.zeros(BINS, dtype=torch.float64).index_add_(0, bins, right.double() - confidence.double())
    return float(gaps.abs().sum() / len(bins))


def _parts(model: Parameters, tokens: Tensor) -> Iterator[Pass]:
    """What a model does on all sequences, part by part."""
    return (run(model, part) for part in tokens.split(BATCH))
