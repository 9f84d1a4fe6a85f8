"""Measure what each head does to the numbers of a list by attending to them.

The effect of a head on a number, at a position that predicts a sorted number, is how much the number's logit, relative
to the mean over numbers, falls when the head no longer reads this number in the list: its attention times the key's
value is removed from the head's context, and all else stays. The final LayerNorm is computed again, so that effects are
exact where folded matrices (:mod:`circuits`) are not. Without positions and LayerNorm, the effect is the attention
times D of module `circuits`.

Effects are averaged separately where the number is next, and right, and where another number is next. A head with a
positive effect copies the number, one with a negative effect suppresses it (copy suppression; McDougall et al., arXiv
2310.04625).
"""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from heuristic_core.experiments.list_sorting.model import EPSILON, Parameters, fold_unembedding, run_models

BATCH = 128  # lists per forward pass


class Effects(NamedTuple):
    """Effects of heads on numbers, means over positions and lists that have the number, float64, [M, H, numbers] each.

    Attributes:
        effect: Effect, logits; NaN where no list has the number.
        effect_error: Its standard error over lists; NaN with fewer than two.
        attention: The head's attention to the number.
    """

    effect: np.ndarray
    effect_error: np.ndarray
    attention: np.ndarray


class EffectsByTarget(NamedTuple):
    """Effects of heads on the number that is to be predicted, and on the other numbers of the list.

    Attributes:
        next: Where the number is next.
        other: Where another number is next.
    """

    next: Effects
    other: Effects


@torch.no_grad()
def measure_effects(parameters: Parameters, tokens: Tensor, numbers: int) -> EffectsByTarget:
    """Measure the effect of every head on every number.

    Args:
        parameters: Parameters of M models.
        tokens: Complete sequences, int64 [B, 2 L + 1].
        numbers: Size of the vocabulary without the separator.
    """
    p = {name: value.double() for name, value in parameters.items()}
    length = tokens.shape[1] // 2
    is_next = tokens[:, length + 1 :, None] == tokens[:, None, :length]  # [B, L predictions, L keys]
    by_target = [], []  # of batches: effect and attention, [M, H, B, L keys] each
    for start in range(0, len(tokens), BATCH):
        batch = slice(start, start + BATCH)
        effects = _effects_by_key(p, tokens[batch])
        for parts, mask in zip(by_target, (is_next[batch], ~is_next[batch]), strict=True):
            parts.append([(values * mask).sum(-2) / mask.sum(-2) for values in effects])
    keys = tokens[:, :length].flatten().numpy()
    joined = [[torch.cat(part, 2).flatten(2).numpy() for part in zip(*parts, strict=True)] for parts in by_target]
    return EffectsByTarget(*(_average_by_number(*part, keys, numbers) for part in joined))


def _effects_by_key(p: Parameters, tokens: Tensor) -> tuple[Tensor, Tensor]:
    """Return the effect of every head on each number of the list, and its attention, [M, H, B, L predictions, L keys].

    Removing attention times what the key writes, a w, from the stream x leaves x - a w. The logit of the key's number
    is a product of the stream with its column u of the unembedding, over the standard deviation: both follow from x u,
    w u, x x, x w and w w, so that no logits are computed again.
    """
    forward, length = run_models(p, tokens), tokens.shape[1] // 2
    stream = forward.residual + torch.einsum("mbihw,mhwd->mbid", forward.contexts, p["output"])
    written = torch.einsum("mbjhw,mhwd->mhbjd", forward.values[:, :, :length], p["output"])
    attention = forward.attention.permute(0, 2, 1, 3, 4)[..., :length]  # [M, H, B, L, L]
    unembed = fold_unembedding(p)[0][..., :-1]
    unembed = (unembed - unembed.mean(-1, keepdim=True)).mT  # relative to the mean over numbers, [M, numbers, d]
    columns = unembed[:, tokens[:, :length]]  # [M, B, L, d]
    if "final_gain" in p:
        stream, written = (rows - rows.mean(-1, keepdim=True) for rows in (stream, written))
    logit = torch.einsum("mbid,mbjd->mbij", stream, columns)[:, None]
    change = attention * torch.einsum("mhbjd,mbjd->mhbj", written, columns)[..., None, :]
    if "final_gain" not in p:
        return change, attention
    squares = (stream**2).sum(-1)[:, None, :, :, None]
    common = torch.einsum("mbid,mhbjd->mhbij", stream, written)
    squares_without = squares - 2 * attention * common + attention**2 * (written**2).sum(-1)[..., None, :]
    scale, scale_without = (
        (values.clamp(min=0) / stream.shape[-1] + EPSILON) ** -0.5 for values in (squares, squares_without)
    )
    return logit * scale - (logit - change) * scale_without, attention


def _average_by_number(effect: np.ndarray, attention: np.ndarray, keys: np.ndarray, numbers: int) -> Effects:
    """Average over lists; effect and attention are [M, H, lists x L], and keys the numbers behind the last axis."""
    lists = np.bincount(keys, minlength=numbers)

    def average(values: np.ndarray) -> np.ndarray:
        sums = np.zeros((*values.shape[:2], numbers))
        np.add.at(sums, np.s_[..., keys], values)
        return sums / lists

    with np.errstate(divide="ignore", invalid="ignore"):  # numbers that no list, or one list, has
        mean = average(effect)
        variance = average((effect - mean[..., keys]) ** 2) * (lists / (lists - 1))
        return Effects(mean, np.sqrt(variance / lists), average(attention))
