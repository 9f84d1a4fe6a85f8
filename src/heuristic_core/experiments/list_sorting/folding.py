"""Measure how far the folded matrices of :mod:`circuits` are from the model on lists.

A folded row is a mean over positions, and all lists share one scale of the final LayerNorm. In the model every token
has a position and every sorted number a scale. All computations are in float64.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from heuristic_core.experiments.list_sorting.circuits import fold_circuits
from heuristic_core.experiments.list_sorting.model import (
    EPSILON,
    ForwardPass,
    Parameters,
    causal_mask,
    fold_unembedding,
    run_models,
)


class Folding(NamedTuple):
    """Differences between folded matrices and the model for every head, [M, H] each.

    Attributes:
        attention: Half the sum over keys of the absolute difference of attention (0 to 1), mean over sorted numbers.
        written: Of what a head adds to the logits, relative to each other, the share of variance that OV at the model's
            attention misses.
        agreement: Share of numbers in the lists for which the head, where it attends to them, raises the same number
            most by OV as by :func:`sum_logits_by_number`.
    """

    attention: Tensor
    written: Tensor
    agreement: Tensor


@torch.no_grad()
def measure_folding(parameters: Parameters, tokens: Tensor) -> Folding:
    """Compare folded matrices with the model on lists.

    Args:
        parameters: Parameters of M models.
        tokens: Complete sequences, int64 [B, 2 L + 1]. Some hundred are enough; a folded row for each of their tokens
            is in memory at the same time.
    """
    p = {name: value.double() for name, value in parameters.items()}
    forward = run_models(p, tokens)
    folded = fold_circuits(p, final_scales(p, forward).mean((1, 2)))
    length = forward.attention.shape[-2]
    scores = folded.qk[:, :, tokens[:, length:-1, None], tokens[:, None, :-1]].transpose(1, 2)
    attention = torch.softmax(scores + causal_mask(length), -1)
    difference = (attention - forward.attention).abs().sum(-1).mean((1, 3)) / 2
    return Folding(difference, written_error(p, tokens, forward, folded.ov), agreement(p, tokens, forward, folded.ov))


def final_scales(p: Parameters, forward: ForwardPass) -> Tensor:
    """Return what the final LayerNorm multiplies by at every sorted number, [M, B, L]; 1 without LayerNorm.

    Args:
        p: Parameters of M models.
        forward: Their forward pass.
    """
    if "final_gain" not in p:
        return torch.ones(forward.residual.shape[:-1], dtype=torch.float64)
    total = forward.residual + torch.einsum("mblhw,mhwd->mbld", forward.contexts, p["output"])
    return (total.var(-1, unbiased=False) + EPSILON) ** -0.5


def written_error(p: Parameters, tokens: Tensor, forward: ForwardPass, ov: Tensor) -> Tensor:
    """Compute `written` of :class:`Folding` for matrices `ov`, [M, H].

    Args:
        p: Parameters of M models.
        tokens: Complete sequences, int64 [B, 2 L + 1].
        forward: The forward pass of :func:`run_models` on `tokens`.
        ov: OV matrices, [M, H, V, V].
    """
    exact = _to_logits(p, torch.einsum("mblhw,mhwd->mhbld", forward.contexts, p["output"]).flatten(2, 3))
    exact = exact * final_scales(p, forward).flatten(1)[:, None, :, None]  # [M, H, B L, V]
    folded = torch.einsum("mbhij,mhbjv->mhbiv", forward.attention, ov[:, :, tokens[:, :-1]]).flatten(2, 3)
    exact, folded = (part - part.mean(-1, keepdim=True) for part in (exact, folded))
    return ((folded - exact) ** 2).sum((2, 3)) / (exact**2).sum((2, 3))


def agreement(p: Parameters, tokens: Tensor, forward: ForwardPass, ov: Tensor) -> Tensor:
    """Compute `agreement` of :class:`Folding`, [M, H].

    Args:
        p: Parameters of M models.
        tokens: Complete sequences, int64 [B, 2 L + 1].
        forward: The forward pass of :func:`run_models` on `tokens`.
        ov: OV matrices, [M, H, V, V].
    """
    highest_by_ov, highest_on_lists = (
        rows[..., :-1, :-1].argmax(-1) for rows in (ov, sum_logits_by_number(p, tokens, forward))
    )
    present = torch.bincount(tokens[:, : tokens.shape[1] // 2].flatten(), minlength=ov.shape[-1])[:-1] > 0
    return (highest_by_ov == highest_on_lists)[..., present].double().mean(-1)


def sum_logits_by_number(p: Parameters, tokens: Tensor, forward: ForwardPass) -> Tensor:
    """Sum what a head adds to logits from the keys of one token, over lists and sorted numbers, [M, H, V, V].

    Each key has the value at its position, the model's attention to it, and the final scale of the sorted number that
    attends.

    Args:
        p: Parameters of M models.
        tokens: Complete sequences, int64 [B, 2 L + 1].
        forward: The forward pass of :func:`run_models` on `tokens`.
    """
    weights = torch.einsum("mbhij,mbi->mbjh", forward.attention, final_scales(p, forward))
    values = (weights[..., None] * forward.values).flatten(1, 2)  # [M, B 2 L, H, w]
    sums = torch.zeros(len(values), p["token"].shape[1], *values.shape[2:], dtype=torch.float64)
    sums.index_add_(1, tokens[:, :-1].flatten(), values)
    return _to_logits(p, torch.einsum("mvhw,mhwd->mhvd", sums, p["output"]))


def _to_logits(p: Parameters, written: Tensor) -> Tensor:
    """Return the logits, without the final scale, of what heads write, [M, H, n, d]."""
    if "final_gain" in p:
        written = written - written.mean(-1, keepdim=True)
    return written @ fold_unembedding(p)[0][:, None]
