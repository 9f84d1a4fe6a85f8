"""Measure what each head does to the next number by attending to it, on lists.

At the position that predicts a number, the list has the only visible key of this number. The effect of a head is how
much the number's logit, relative to the mean over numbers, falls when the head no longer reads this key: its attention
times the key's value is removed from the head's context, and all else stays. The final LayerNorm is computed again, so
that effects are exact where folded matrices (:mod:`circuits`) are not. A head with a positive effect copies the number,
one with a negative effect suppresses it (copy suppression; McDougall et al., arXiv 2310.04625: the head attends to what
is about to be predicted, and lowers it). Without positions and LayerNorm, the effect is the attention times D of module
`circuits`.

No measure here has a threshold.
"""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from heuristic_core.experiments.list_sorting.model import ForwardPass, Parameters, read_out, run_models

BATCH = 512  # lists per forward pass


class Effects(NamedTuple):
    """Effects of heads on the numbers that come next, float64.

    Attributes:
        effect: Mean over lists with the number, logits, [M, H, numbers]; NaN where no list has it.
        effect_error: Its standard error, [M, H, numbers]; NaN with fewer than two lists.
        attention: The head's attention to the number where it is next, mean over lists, [M, H, numbers].
    """

    effect: np.ndarray
    effect_error: np.ndarray
    attention: np.ndarray


@torch.no_grad()
def measure_effects(parameters: Parameters, tokens: Tensor, numbers: int) -> Effects:
    """Measure the effect of every head on every number.

    Args:
        parameters: Parameters of M models.
        tokens: Complete sequences, int64 [B, 2 L + 1].
        numbers: Size of the vocabulary without the separator.
    """
    parts = [_effects_by_list(parameters, batch) for batch in tokens.split(BATCH)]
    effect, attention = (torch.cat(values, 2).flatten(2).double().numpy() for values in zip(*parts, strict=True))
    targets = tokens[:, tokens.shape[1] // 2 + 1 :].flatten().numpy()
    lists = np.bincount(targets, minlength=numbers)

    def average(values: np.ndarray) -> np.ndarray:
        sums = np.zeros((*values.shape[:2], numbers))
        np.add.at(sums, np.s_[..., targets], values)
        return sums / lists

    with np.errstate(divide="ignore", invalid="ignore"):  # numbers that no list, or one list, has
        mean = average(effect)
        variance = average((effect - mean[..., targets]) ** 2) * (lists / (lists - 1))
        return Effects(mean, np.sqrt(variance / lists), average(attention))


def _effects_by_list(p: Parameters, tokens: Tensor) -> tuple[Tensor, Tensor]:
    """Return the effect of every head on each sorted number, and its attention to it, [M, H, B, L] each."""
    forward, length = run_models(p, tokens), tokens.shape[1] // 2
    targets = tokens[:, length + 1 :]
    keys = (tokens[:, None, :length] == targets[:, :, None]).int().argmax(-1)  # position of each number in the list
    m, h = forward.attention.shape[0], forward.attention.shape[2]
    attention = forward.attention.permute(0, 2, 1, 3, 4)  # [M, H, B, L, 2 L]
    attention = attention.gather(-1, keys.expand(m, h, -1, -1)[..., None])[..., 0]
    values = forward.values[:, torch.arange(len(tokens))[:, None], keys]  # [M, B, L, H, w]
    read = attention.permute(0, 2, 3, 1)[..., None] * values
    whole = _relative_logit(forward.logits, targets)
    effects = [whole - _relative_logit(_remove(p, forward, read, head), targets) for head in range(h)]
    return torch.stack(effects, 1), attention


def _remove(p: Parameters, forward: ForwardPass, read: Tensor, head: int) -> Tensor:
    """Return logits [M, B, L, V] without what one head reads, [M, B, L, H, w]."""
    contexts = forward.contexts.clone()
    contexts[..., head, :] = contexts[..., head, :] - read[..., head, :]
    return read_out(p, forward.residual, contexts)


def _relative_logit(logits: Tensor, targets: Tensor) -> Tensor:
    """Return the logits of the targets [B, L] relative to the mean over numbers, [M, B, L]."""
    numbers = logits[..., :-1]
    return numbers.gather(-1, targets.expand(len(logits), -1, -1)[..., None])[..., 0] - numbers.mean(-1)


# ---- measures of effects [M, H, numbers]; numbers that no list has are left out


def copied(effect: np.ndarray) -> np.ndarray:
    """Return what a head adds to numbers that it copies, mean over all numbers, logits, [M, H]."""
    return np.nanmean(np.maximum(effect, 0), -1)


def suppressed(effect: np.ndarray) -> np.ndarray:
    """Return what a head takes from numbers that it suppresses, mean over all numbers, logits, [M, H]."""
    return np.nanmean(np.maximum(-effect, 0), -1)


def suppression(effect: np.ndarray) -> np.ndarray:
    """Return what heads take from numbers over what heads add to numbers, [M]; NaN if no head copies."""
    return suppressed(effect).sum(1) / _positive_or_nan(copied(effect).sum(1))


def splitting(effect: np.ndarray) -> np.ndarray:
    """Compute how far heads split the vocabulary, [M]; NaN for one head, and if no head copies.

    The information that a number has about which head copies it, I(head; number) / log H, where numbers are equally
    frequent and a head's probability given a number is its share of the copying. It is 1 if each number is copied by
    one head and heads have equally many numbers; 0 if all numbers are copied by the same head, or by the heads alike.
    Numbers that no head copies are left out.

    Args:
        effect: Effects, [M, H, numbers].
    """
    heads = effect.shape[1]
    result = np.full(len(effect), np.nan)
    for m, positive in enumerate(np.maximum(effect, 0)):
        by_number = positive[:, positive.sum(0) > 0]  # False where no list has the number
        if heads > 1 and by_number.size:
            shares = by_number / by_number.sum(0)
            result[m] = (_entropy(shares.mean(1)) - _entropy(shares).mean()) / np.log(heads)
    return result


def sign_agreement(effect: np.ndarray, d: np.ndarray) -> np.ndarray:
    """Return the share of numbers whose D, [M, H, numbers], has the sign of the effect, [M, H].

    A number with an effect of 0 disagrees.
    """
    return (effect * d > 0).sum(-1) / (~np.isnan(effect)).sum(-1)


def attention_similarity(attention: Tensor) -> np.ndarray:
    """Return how alike two heads attend: 1 minus half the sum over keys of the absolute difference, [M].

    Mean over sorted numbers, lists and pairs of heads; NaN for one head.

    Args:
        attention: Attention, [M, B, H, L, 2 L].
    """
    pairs = torch.combinations(torch.arange(attention.shape[2]))
    differences = (attention[:, :, pairs[:, 0]] - attention[:, :, pairs[:, 1]]).abs().sum(-1).double()
    return 1 - differences.mean((1, 2, 3)).numpy() / 2


def _entropy(shares: np.ndarray) -> np.ndarray:
    """Return the entropy over heads (first axis), nats."""
    return -(shares * np.log(np.where(shares > 0, shares, 1))).sum(0)


def _positive_or_nan(values: np.ndarray) -> np.ndarray:
    """Return values with NaN in place of 0."""
    return np.where(values > 0, values, np.nan)
