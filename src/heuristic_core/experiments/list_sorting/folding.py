"""How far the folded matrices of :mod:`circuits` are from what the model does on lists.

A folded row is a mean over positions, and all lists share one scale of the final LayerNorm. In the model every token
has a position and every sorted number a scale. Everything here is float64.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from heuristic_core.experiments.list_sorting.circuits import circuits
from heuristic_core.experiments.list_sorting.model import EPSILON, Parameters, Pass, later_keys, run, unembedding


class Folding(NamedTuple):
    """Of every head, [M, H] each.

    attention: half the sum over keys of the absolute difference of attention (0 to 1), mean over sorted numbers.
    written: of what a head adds to the logits, relative to each other, the share of variance that OV at the model's own
    attention does not give. agreement: share of numbers that the head, where it attends to them, raises the same number
    most for by OV and by :func:`written_by_number`; of the numbers that the lists have.
    """

    attention: Tensor
    written: Tensor
    agreement: Tensor


@torch.no_grad()
def folding(parameters: Parameters, tokens: Tensor) -> Folding:
    """What positions and lists' own scales change on lists. tokens: int64, whole sequences [B, 2 L + 1]; some hundred
    are enough, and a folded row for each of their tokens is held at once."""
    p = {name: value.double() for name, value in parameters.items()}
    found = run(p, tokens)
    folded = circuits(p, final_scales(p, found).mean((1, 2)))
    length = found.attention.shape[-2]
    scores = folded.qk[:, :, tokens[:, length:-1, None], tokens[:, None, :-1]].transpose(1, 2)
    attention = torch.softmax(scores + later_keys(length), -1)
    difference = (attention - found.attention).abs().sum(-1).mean((1, 3)) / 2
    return Folding(difference, written_error(p, tokens, found, folded.ov), agreement(p, tokens, found, folded.ov))


def final_scales(p: Parameters, found: Pass) -> Tensor:
    """What the final LayerNorm multiplies by at every sorted number, [M, B, L]; 1 without LayerNorm."""
    if "final_gain" not in p:
        return torch.ones(found.residual.shape[:-1], dtype=torch.float64)
    total = found.residual + torch.einsum("mblhw,mhwd->mbld", found.contexts, p["output"])
    return (total.var(-1, unbiased=False) + EPSILON) ** -0.5


def written_error(p: Parameters, tokens: Tensor, found: Pass, ov: Tensor) -> Tensor:
    """:class:`Folding`'s `written` of matrices `ov`, [M, H]. found: what :func:`run` gives for `tokens`."""
    exact = _to_logits(p, torch.einsum("mblhw,mhwd->mhbld", found.contexts, p["output"]).flatten(2, 3))
    exact = exact * final_scales(p, found).flatten(1)[:, None, :, None]  # [M, H, B L, V]
    folded = torch.einsum("mbhij,mhbjv->mhbiv", found.attention, ov[:, :, tokens[:, :-1]]).flatten(2, 3)
    exact, folded = (part - part.mean(-1, keepdim=True) for part in (exact, folded))
    return ((folded - exact) ** 2).sum((2, 3)) / (exact**2).sum((2, 3))


def agreement(p: Parameters, tokens: Tensor, found: Pass, ov: Tensor) -> Tensor:
    """:class:`Folding`'s `agreement` of matrices `ov`, [M, H]. found: as of :func:`written_error`."""
    highest, of_lists = (rows[..., :-1, :-1].argmax(-1) for rows in (ov, written_by_number(p, tokens, found)))
    present = torch.bincount(tokens[:, : tokens.shape[1] // 2].flatten(), minlength=ov.shape[-1])[:-1] > 0
    return (highest == of_lists)[..., present].double().mean(-1)


def written_by_number(p: Parameters, tokens: Tensor, found: Pass) -> Tensor:
    """What a head adds to logits from the keys of one token, summed over lists and sorted numbers, [M, H, V, V].

    Each key has the value of its own position, the model's attention to it, and the final scale of the sorted number
    that attends. found: as of :func:`written_error`.
    """
    weights = torch.einsum("mbhij,mbi->mbjh", found.attention, final_scales(p, found))
    values = (weights[..., None] * found.values).flatten(1, 2)  # [M, B 2 L, H, w]
    sums = torch.zeros(len(values), p["token"].shape[1], *values.shape[2:], dtype=torch.float64)
    sums.index_add_(1, tokens[:, :-1].flatten(), values)
    return _to_logits(p, torch.einsum("mvhw,mhwd->mhvd", sums, p["output"]))


def _to_logits(p: Parameters, written: Tensor) -> Tensor:
    """Logits, without the final scale, of what heads write, [M, H, n, d]."""
    if "final_gain" in p:
        written = written - written.mean(-1, keepdim=True)
    return written @ unembedding(p)[0][:, None]
