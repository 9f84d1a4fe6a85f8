"""Circuits of heads, read from the weights: QK and OV matrices over tokens; measures of them and of attention.

Folding. Attention sees a token's embedding after the first LayerNorm, with gain and bias. In a model with positions
this row depends on the position; the matrices take its mean over the positions where the token can be: the separator's
own position; for a number as a key all others; for a number as a query those after the separator. The final LayerNorm
centres, which is linear, and divides by a standard deviation that depends on the list: the matrices divide by 1, unless
a scale is given. A common positive factor changes no measure here. Module `folding` measures how far the matrices are
from the model. Gains, biases of values and the unembedding are folded in; the biases of the output and of the
unembedding belong to no head.

All measures are over the numbers, without the separator. D_h(k) = OV_h[k, k] - mean of row k: how much head h, where it
attends to k, raises k above other numbers. Measures of a pair of heads are means over all pairs, NaN for one head.
"""

from collections.abc import Callable
from itertools import combinations
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from heuristic_core.experiments.list_sorting.model import Parameters, embed_tokens, fold_unembedding, project_rows


class Circuits(NamedTuple):
    """Folded matrices of every head.

    Attributes:
        qk: Score of a query token (row) for a key token, scaled as in the softmax, [M, H, V, V].
        ov: What attending to a token (row) adds to the logit of a token (column), [M, H, V, V].
    """

    qk: Tensor
    ov: Tensor


@torch.no_grad()
def fold_circuits(parameters: Parameters, scale: Tensor | None = None) -> Circuits:
    """Compute the folded matrices of every head in float64.

    Args:
        parameters: Parameters of M models.
        scale: What the final LayerNorm multiplies by, [M]; default: 1.
    """
    p = {name: value.double() for name, value in parameters.items()}
    m, h, w, _ = p["output"].shape
    _, seen = embed_tokens(p)
    keys, queries = _average_positions(seen, 0), _average_positions(seen, seen.shape[1] // 2)

    def project(rows: Tensor, name: str) -> Tensor:
        return project_rows(rows, p, name).unflatten(-1, (h, w)).transpose(1, 2)  # [M, H, V, w]

    qk = project(queries, "query") @ project(keys, "key").mT * w**-0.5
    written = project(keys, "value") @ p["output"]  # [M, H, V, d]
    if "final_gain" in p:
        written = written - written.mean(-1, keepdim=True)
    ov = written @ fold_unembedding(p)[0][:, None]
    return Circuits(qk, ov if scale is None else ov * scale.double().view(m, 1, 1, 1))


def _average_positions(seen: Tensor, start: int) -> Tensor:
    """Return what attention sees of a token, mean over its positions from `start` on, [M, V, d].

    Args:
        seen: What attention sees at every position, [M, 2 L, V, d]; [M, 1, V, d] without positions.
        start: First position of numbers.
    """
    if seen.shape[1] == 1:
        return seen[:, 0]
    length = seen.shape[1] // 2
    numbers = [position for position in range(start, 2 * length) if position != length]
    return torch.cat([seen[:, numbers, :-1].mean(1), seen[:, length, -1:]], 1)


# ---- measures of OV matrices [M, H, V, V]


def diagonal(ov: Tensor) -> Tensor:
    """Return D_h(k), [M, H, numbers], of OV matrices [M, H, V, V]."""
    numbers = ov[..., :-1, :-1]
    return numbers.diagonal(dim1=-2, dim2=-1) - numbers.mean(-1)


def both_copy(d: Tensor) -> Tensor:
    """Return the share of numbers with positive D in both heads, [M], for D [M, H, numbers]."""
    return _average_pairs(d, lambda a, b: ((a > 0) & (b > 0)).double().mean(-1))


def opposite_sign(d: Tensor) -> Tensor:
    """Return the share of numbers with D of opposite sign in two heads, [M], for D [M, H, numbers]."""
    return _average_pairs(d, lambda a, b: (a * b < 0).double().mean(-1))


def _average_pairs(d: Tensor, measure: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
    """Return the mean of `measure` over pairs of heads, [M]; NaN for one head."""
    values = [measure(d[:, a], d[:, b]) for a, b in combinations(range(d.shape[1]), 2)]
    return sum(values) / len(values) if values else torch.full((len(d),), torch.nan, dtype=torch.float64)


def effective_rank(matrices: Tensor) -> Tensor:
    """Compute (sum s^2)^2 / sum s^4 of the singular values s: r for r equal ones, [...].

    Rows are centred first: neither softmax, of attention or of the output, sees a constant along a row.

    Args:
        matrices: Matrices, [..., n, m].
    """
    centred = matrices - matrices.mean(-1, keepdim=True)
    gram = centred @ centred.mT
    return gram.diagonal(dim1=-2, dim2=-1).sum(-1) ** 2 / (gram**2).sum((-2, -1))


def attention_similarity(attention: Tensor) -> np.ndarray:
    """Return how alike two heads attend: 1 minus half the sum over keys of the absolute difference, [M].

    Mean over sorted numbers, lists and pairs of heads; NaN for one head.

    Args:
        attention: Attention, [M, B, H, L, 2 L].
    """
    pairs = torch.combinations(torch.arange(attention.shape[2]))
    differences = (attention[:, :, pairs[:, 0]] - attention[:, :, pairs[:, 1]]).abs().sum(-1).double()
    return 1 - differences.mean((1, 2, 3)).numpy() / 2


class AttentionByDistance(NamedTuple):
    """Attention by distance in value.

    The last axis is key - query, from -(numbers - 1) on. Queries are the sorted numbers, not the separator.

    Attributes:
        attention: Mean over pairs of a query and a key, float64 [M, H, 2, 2 numbers - 1], NaN without pairs. Third
            axis: keys in the list, keys among the sorted numbers.
        pairs: Number of pairs, int64 [2, 2 numbers - 1].
    """

    attention: Tensor
    pairs: Tensor


def average_attention_by_distance(attention: Tensor, tokens: Tensor, numbers: int) -> AttentionByDistance:
    """Average attention by the key's number minus the query's number.

    Args:
        attention: Attention, [M, B, H, L, 2 L].
        tokens: Complete sequences, int64 [B, 2 L + 1].
        numbers: Size of the vocabulary without the separator.
    """
    m, _, h, length, _ = attention.shape
    queries, size = tokens[:, length + 1 : -1], 2 * numbers - 1
    means, pairs = [], []
    for keys in (slice(0, length), slice(length + 1, 2 * length)):
        distance = tokens[:, None, keys] - queries[:, :, None] + numbers - 1  # [B, L - 1, keys]
        positions = torch.arange(2 * length)[keys]
        visible = (positions <= torch.arange(length + 1, 2 * length)[:, None]).expand_as(distance)
        weights = attention[:, :, :, 1:, keys].permute(0, 2, 1, 3, 4)[:, :, visible].double()  # [M, H, pairs]
        index = distance[visible]
        sums = torch.zeros(m, h, size, dtype=torch.float64).index_add_(-1, index, weights)
        pairs.append(torch.bincount(index, minlength=size))
        means.append(sums / pairs[-1])
    return AttentionByDistance(torch.stack(means, 2), torch.stack(pairs))
