"""What heads do, read from the weights: QK and OV matrices over tokens, and measures of copying and suppression.

Folding. A token's row of what attention sees (its embedding after the first LayerNorm, with gain and bias) depends on
its position; the matrices take the mean over the positions where the token can be: the separator's own position; for a
number as a key all others; for a number as a query those after the separator. The final LayerNorm centres, which is
linear, and divides by a deviation that depends on the list: the matrices divide by 1, unless a scale is given. A common
positive factor changes no measure here. Module `folding` says how far all this is from the model. Gains, biases of
values, and the unembedding are folded in; the outputs' bias and the unembedding's belong to no head.

All measures are over the numbers, without the separator. D_h(k) = OV_h[k, k] - mean of row k is by how much head h,
where it attends to k, raises k above other numbers. Measures of a pair of heads are means over all pairs; a model with
one head has none (nan).
"""

from collections.abc import Callable
from itertools import combinations
from typing import NamedTuple

import torch
from torch import Tensor

from heuristic_core.experiments.list_sorting.model import Parameters, embedded, mapped, unembedding


class Circuits(NamedTuple):
    """qk: [M, H, V, V], score of a query token (row) for a key token, scaled as in the softmax. ov: [M, H, V, V], what
    attending to a token (row) adds to the logit of a token (column)."""

    qk: Tensor
    ov: Tensor


@torch.no_grad()
def circuits(parameters: Parameters, scale: Tensor | None = None) -> Circuits:
    """The folded matrices of every head, float64. scale: [M], what the final LayerNorm multiplies by; default: 1."""
    p = {name: value.double() for name, value in parameters.items()}
    m, h, w, _ = p["output"].shape
    _, seen = embedded(p)
    keys, queries = _tokens(seen, 0), _tokens(seen, seen.shape[1] // 2)

    def by_head(rows: Tensor, name: str) -> Tensor:
        return mapped(rows, p, name).unflatten(-1, (h, w)).transpose(1, 2)  # [M, H, V, w]

    qk = by_head(queries, "query") @ by_head(keys, "key").mT * w**-0.5
    written = by_head(keys, "value") @ p["output"]  # [M, H, V, d]
    if "final_gain" in p:
        written = written - written.mean(-1, keepdim=True)
    ov = written @ unembedding(p)[0][:, None]
    return Circuits(qk, ov if scale is None else ov * scale.double().view(m, 1, 1, 1))


def _tokens(seen: Tensor, start: int) -> Tensor:
    """What attention sees of a token [M, V, d], mean over its positions from `start` on. seen: [M, 2 L, V, d]."""
    length = seen.shape[1] // 2
    numbers = [position for position in range(start, 2 * length) if position != length]
    return torch.cat([seen[:, numbers, :-1].mean(1), seen[:, length, -1:]], 1)


# ---- measures; ov: [M, H, V, V] of :func:`circuits`


def diagonal(ov: Tensor) -> Tensor:
    """D_h(k), [M, H, numbers]."""
    numbers = ov[..., :-1, :-1]
    return numbers.diagonal(dim1=-2, dim2=-1) - numbers.mean(-1)


def copies(ov: Tensor) -> Tensor:
    """Whether attending to a number raises this number most, bool [M, H, numbers]. The share is the copying score."""
    return _is_own(ov[..., :-1, :-1].argmax(-1))


def suppresses(ov: Tensor) -> Tensor:
    """Whether it lowers this number most, bool [M, H, numbers]. The share is the suppression score."""
    return _is_own(ov[..., :-1, :-1].argmin(-1))


def _is_own(number: Tensor) -> Tensor:
    return number == torch.arange(number.shape[-1])


def ranges(copied: Tensor) -> list[tuple[int, int]]:
    """The runs of neighbouring numbers that a head copies, first and last of each, ascending. copied: [numbers]."""
    edges = torch.diff(copied.int(), prepend=torch.zeros(1), append=torch.zeros(1))
    firsts, ends = ((edges == sign).nonzero().flatten().tolist() for sign in (1, -1))
    return [(first, end - 1) for first, end in zip(firsts, ends, strict=True)]


def splitting(copied: Tensor) -> Tensor:
    """Share of numbers that one head copies alone, less the largest such share of a head, times H / (H - 1), [M].

    It is 1 where the heads share the vocabulary evenly, 0 where all copying is one head's or all numbers are copied by
    several. Of two heads it is twice the share that the second copies alone. copied: bool [M, H, numbers].
    """
    heads, numbers = copied.shape[1:]
    if heads == 1:
        return torch.full((len(copied),), torch.nan, dtype=torch.float64)
    alone = (copied & (copied.sum(1, keepdim=True) == 1)).sum(-1)  # numbers of each head, [M, H]
    beside_the_first = alone.sum(-1) - alone.max(-1).values
    return heads / (heads - 1) * (beside_the_first.double() / numbers)


def soft_overlap(d: Tensor) -> Tensor:
    """Sum over numbers of min(D_0+, D_1+) over that of max(D_0+, D_1+), where + is the positive part, [M]; nan where
    no head copies. d: [M, H, numbers]."""
    positive = d.clamp(min=0)
    return _pairs(positive, lambda a, b: torch.minimum(a, b).sum(-1) / torch.maximum(a, b).sum(-1))


def both_copy(d: Tensor) -> Tensor:
    """Share of numbers with positive D in both heads, [M]. d: [M, H, numbers]."""
    return _pairs(d, lambda a, b: ((a > 0) & (b > 0)).double().mean(-1))


def opposite_sign(d: Tensor) -> Tensor:
    """Share of numbers with positive D in one head and negative D in the other, [M]. d: [M, H, numbers]."""
    return _pairs(d, lambda a, b: (a * b < 0).double().mean(-1))


def _pairs(d: Tensor, measure: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
    """Mean of `measure` over pairs of heads, [M]."""
    found = [measure(d[:, a], d[:, b]) for a, b in combinations(range(d.shape[1]), 2)]
    return sum(found) / len(found) if found else torch.full((len(d),), torch.nan, dtype=torch.float64)


def effective_rank(matrices: Tensor) -> Tensor:
    """(sum s^2)^2 / sum s^4 of the singular values s of [..., n, m] matrices: r for r equal ones, [...].

    Rows are centred first: no softmax sees a constant along a row, neither attention's nor the output's.
    """
    centred = matrices - matrices.mean(-1, keepdim=True)
    gram = centred @ centred.mT
    return gram.diagonal(dim1=-2, dim2=-1).sum(-1) ** 2 / (gram**2).sum((-2, -1))


class ByDistance(NamedTuple):
    """attention: float64 [M, H, 2, 2 numbers - 1], mean over pairs of a query and a key, nan where there is none; the
    third axis: keys in the list, keys among the sorted numbers. pairs: int64 [2, 2 numbers - 1], how many.

    The last axis is key - query, from -(numbers - 1) on. Queries are the sorted numbers, not the separator.
    """

    attention: Tensor
    pairs: Tensor


def by_distance(attention: Tensor, tokens: Tensor, numbers: int) -> ByDistance:
    """Attention by how far the key's number is above the query's.

    attention: [M, B, H, L, 2 L]. tokens: int64, whole sequences [B, 2 L + 1].
    """
    m, _, h, length, _ = attention.shape
    queries, size = tokens[:, length + 1 : -1], 2 * numbers - 1
    found, pairs = [], []
    for keys in (slice(0, length), slice(length + 1, 2 * length)):
        distance = tokens[:, None, keys] - queries[:, :, None] + numbers - 1  # [B, L - 1, keys]
        position = torch.arange(2 * length)[keys]
        seen = (position <= torch.arange(length + 1, 2 * length)[:, None]).expand_as(distance)
        chosen = attention[:, :, :, 1:, keys].permute(0, 2, 1, 3, 4)[:, :, seen].double()  # [M, H, pairs]
        index = distance[seen]
        sums = torch.zeros(m, h, size, dtype=torch.float64).index_add_(-1, index, chosen)
        pairs.append(torch.bincount(index, minlength=size))
        found.append(sums / pairs[-1])
    return ByDistance(torch.stack(found, 2), torch.stack(pairs))
