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

import torch
from torch import Tensor

from heuristic_core.experiments.list_sorting.model import ForwardPass, Parameters, read_out, run_models

BATCH = 512  # lists per forward pass


class Effects(NamedTuple):
    """Effects of heads on the numbers that come next, float64.

    Attributes:
        effect: Mean over lists with the number, logits, [M, H, numbers]; NaN where no list has it.
        error: Its standard error, [M, H, numbers]; NaN with fewer than two lists.
        attention: The head's attention to the number where it is next, mean over lists, [M, H, numbers].
    """

    effect: Tensor
    error: Tensor
    attention: Tensor


@torch.no_grad()
def measure_effects(parameters: Parameters, tokens: Tensor, numbers: int) -> Effects:
    """Measure the effect of every head on every number.

    Args:
        parameters: Parameters of M models.
        tokens: Complete sequences, int64 [B, 2 L + 1].
        numbers: Size of the vocabulary without the separator.
    """
    parts = [_effects_by_list(parameters, batch) for batch in tokens.split(BATCH)]
    effect, attention = (torch.cat(values, 2).flatten(2).double() for values in zip(*parts, strict=True))
    targets = tokens[:, tokens.shape[1] // 2 + 1 :].flatten()
    lists = torch.bincount(targets, minlength=numbers)

    def average(values: Tensor) -> Tensor:
        sums = torch.zeros(*values.shape[:2], numbers, dtype=torch.float64).index_add_(2, targets, values)
        return sums / lists

    mean = average(effect)
    variance = average((effect - mean[..., targets]) ** 2) * (lists / (lists - 1))
    return Effects(mean, (variance / lists).sqrt(), average(attention))


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
    contexts[..., head, :] -= read[..., head, :]
    return read_out(p, forward.residual, contexts)


def _relative_logit(logits: Tensor, targets: Tensor) -> Tensor:
    """Return the logits of the targets [B, L] relative to the mean over numbers, [M, B, L]."""
    numbers = logits[..., :-1]
    return numbers.gather(-1, targets.expand(len(logits), -1, -1)[..., None])[..., 0] - numbers.mean(-1)


# ---- measures of effects [M, H, numbers]; numbers that no list has are left out


def copied(effect: Tensor) -> Tensor:
    """Return what a head adds to numbers that it copies, mean over numbers, logits, [M, H]."""
    return effect.clamp(min=0).nanmean(-1)


def suppressed(effect: Tensor) -> Tensor:
    """Return what a head takes from numbers that it suppresses, mean over numbers, logits, [M, H]."""
    return (-effect).clamp(min=0).nanmean(-1)


def suppression(effect: Tensor) -> Tensor:
    """Return what heads take from numbers over what heads add to numbers, [M]; NaN if no head copies."""
    return suppressed(effect).sum(1) / _positive_or_nan(copied(effect).sum(1))


def splitting(effect: Tensor) -> Tensor:
    """Compute how far heads split the vocabulary, [M]; NaN for one head, and if no head copies.

    The information that a number has about which head copies it, I(head; number) / log H, where numbers are equally
    frequent and a head's probability given a number is its share of the copying. It is 1 if each number is copied by
    one head and heads have equally many numbers; 0 if all numbers are copied by the same head, or by the heads alike.

    Args:
        effect: Effects, [M, H, numbers].
    """
    heads = effect.shape[1]
    positive = effect.clamp(min=0)
    total = positive.sum(1, keepdim=True)
    shares = positive / _positive_or_nan(total)  # NaN where no head copies the number
    information = _entropy(shares.nanmean(-1)) - _entropy(shares).nanmean(-1)
    return information / torch.tensor(float(heads) if heads > 1 else torch.nan, dtype=torch.float64).log()


def sign_agreement(effect: Tensor, d: Tensor) -> Tensor:
    """Return the share of numbers whose D, [M, H, numbers], has the sign of the effect, [M, H]."""
    known = ~effect.isnan()
    return ((effect * d > 0) & known).sum(-1).double() / known.sum(-1)


def attention_similarity(attention: Tensor) -> Tensor:
    """Return how alike two heads attend: 1 less half the sum over keys of the absolute difference, [M].

    Mean over sorted numbers, lists and pairs of heads; NaN for one head.

    Args:
        attention: Attention, [M, B, H, L, 2 L].
    """
    pairs = torch.combinations(torch.arange(attention.shape[2]))
    differences = (attention[:, :, pairs[:, 0]] - attention[:, :, pairs[:, 1]]).abs().sum(-1).double()
    return 1 - differences.mean((1, 2, 3)) / 2


def _entropy(shares: Tensor) -> Tensor:
    """Return the entropy over heads (axis 1), nats; NaN where a share is."""
    return -torch.special.xlogy(shares, shares).sum(1)


def _positive_or_nan(values: Tensor) -> Tensor:
    """Return values with NaN in place of 0."""
    return values.where(values > 0, torch.nan)
