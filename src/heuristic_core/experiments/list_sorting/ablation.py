"""Ablate the heads of models: each head, and all heads, replaced by zero, a mean, or contexts on other lists.

A head's context is the attention-weighted mean of its values, including their bias, before the output matrix. The mean
is over training lists, separately for each position. Resampled contexts are computed on a random training list, at the
same position. Both therefore keep what a head contributes to a position, the rank of the next number, as module
`halves` does, and remove what it contributes to the list. Sentences of the heuristic core have no such positions; its
mean is over all of them.
"""

from collections.abc import Iterator

import torch
from torch import Tensor

from heuristic_core.common.seeds import torch_generator
from heuristic_core.experiments.list_sorting.model import ForwardPass, HeadReplacement, Parameters, run_models

BATCH = 512  # lists per forward pass
ABLATION_KINDS = ("zero", "mean", "resample")
BINS = 15  # equal-width bins of the highest probability


@torch.no_grad()
def measure_ablations(parameters: Parameters, tokens: Tensor, training: Tensor, seed: int) -> list[dict]:
    """Measure every model whole and under every ablation.

    Args:
        parameters: Parameters of M models.
        tokens: Held-out sequences to measure on, int64 [B, 2 L + 1].
        training: Sequences behind means, from which resampled contexts are drawn with replacement, int64 [n, 2 L + 1].
        seed: Seed of these draws.

    Returns:
        One row per model and ablation: `model`, its index; `kind`, "none" or one of KINDS; `ablated`, the heads; and
        the values of :func:`compute_measures`.
    """
    heads = parameters["output"].shape[1]
    donors, rows = draw_donors(tokens, training, seed), []
    for m in range(len(parameters["output"])):
        model = {name: value[m : m + 1] for name, value in parameters.items()}
        means = torch.cat([forward.contexts for forward in _run_batches(model, training)], 1).double().mean(1).float()
        references = {"zero": torch.zeros_like(means), "mean": means, "resample": donors}
        logits = torch.cat([forward.logits for forward in _run_batches(model, tokens)], 1)
        rows.append({"model": m, "kind": "none", "ablated": []} | compute_measures(logits[0], tokens))
        for kind, reference in references.items():
            for ablated in head_sets(heads):
                logits = ablate_heads(model, tokens, ablated, reference)
                rows.append({"model": m, "kind": kind, "ablated": ablated} | compute_measures(logits[0], tokens))
    return rows


def draw_donors(tokens: Tensor, training: Tensor, seed: int) -> Tensor:
    """Draw a training sequence for every sequence, with replacement, int64 [B, 2 L + 1].

    Args:
        tokens: Sequences that need a donor, [B, 2 L + 1]; only their number matters.
        training: Training sequences, int64 [n, 2 L + 1].
        seed: Seed of the draws.
    """
    draws = torch_generator("list sorting donors", seed)
    return training[torch.randint(len(training), (len(tokens),), generator=draws)]


def head_sets(heads: int) -> list[list[int]]:
    """Return the sets of heads to ablate: each head, then all heads if there are several."""
    return [[h] for h in range(heads)] + ([list(range(heads))] if heads > 1 else [])


@torch.no_grad()
def ablate_heads(model: Parameters, tokens: Tensor, ablated: list[int], reference: Tensor) -> Tensor:
    """Compute the logits of one model with the heads `ablated` replaced.

    Args:
        model: Parameters of one model, each [1, ...].
        tokens: Sequences, int64 [B, 2 L + 1].
        ablated: Indices of the heads.
        reference: Contexts that broadcast against [1, B, L, H, w], the same for all lists; or donors, int64
            [B, 2 L + 1], one sequence for every list.

    Returns:
        Logits, [1, B, L, V].
    """
    keep = torch.ones(model["output"].shape[1])
    keep[ablated] = 0
    logits = []
    for start in range(0, len(tokens), BATCH):
        batch = slice(start, start + BATCH)
        resampled = not reference.is_floating_point()
        contexts = run_models(model, reference[batch]).contexts if resampled else reference
        logits.append(run_models(model, tokens[batch], HeadReplacement(keep, contexts)).logits)
    return torch.cat(logits, 1)


def compute_measures(logits: Tensor, tokens: Tensor) -> dict[str, float]:
    """Compute the loss, accuracies, entropy and calibration of one model.

    Args:
        logits: Logits of one model, [B, L, V].
        tokens: The sequences, int64 [B, 2 L + 1].

    Returns:
        loss: cross-entropy, nats. token_accuracy, list_accuracy: shares of sorted numbers, and of complete lists, whose
        highest logits are right. entropy: of the distribution over tokens, nats. confidence: highest probability.
        calibration_error: expected calibration error (Guo et al. 2017) over BINS bins of the highest probability, the
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
    """Compute the expected calibration error.

    Args:
        confidence: Highest probabilities, 0 to 1, [n]. The last bin includes 1.
        right: Whether each prediction is right, bool [n].
    """
    bins = (confidence * BINS).long().clamp(max=BINS - 1)
    gaps = torch.zeros(BINS, dtype=torch.float64).index_add_(0, bins, right.double() - confidence.double())
    return float(gaps.abs().sum() / len(bins))


def _run_batches(model: Parameters, tokens: Tensor) -> Iterator[ForwardPass]:
    """Run a model on all sequences, batch by batch."""
    return (run_models(model, batch) for batch in tokens.split(BATCH))
