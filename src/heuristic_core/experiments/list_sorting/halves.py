"""The two halves of a head, and what a model computes with any of them replaced by means.

A head's QK half decides what it attends to, its OV half what it writes. Without its QK half a head attends as on
average: the same for all lists, for every position that predicts. Without its OV half it moves average values: the same
for all lists, for every position attended to. Means are over training lists. A head without both halves is its mean
attention to mean values, a constant of the position.

A gate z between 0 and 1 mixes z of the list's own attention or values with 1 - z of the mean. Gates are numbered head
by head, QK before OV. A context is a product of attention and values, so it is linear in each gate of its head, and the
contexts at the four corners of each head's gates are all that gates need. Model weights never change here.
"""

from itertools import combinations
from typing import NamedTuple

import torch
from torch import Tensor

from heuristic_core.experiments.list_sorting.model import Parameters, read_out, run_models

BATCH = 512  # lists per forward pass
HALVES = ("qk", "ov")


class Means(NamedTuple):
    """Means over training lists.

    Attributes:
        attention: Mean attention, [H, L, 2 L].
        values: Mean values, [2 L, H, w].
    """

    attention: Tensor
    values: Tensor


class Corners(NamedTuple):
    """What gates need of B lists.

    Attributes:
        logits: Logits of the full model, [B, L, V].
        residual: The stream that heads write to, [B, L, d].
        contexts: Contexts with mean or own attention (fourth axis) of mean or own values (fifth axis),
            [B, L, H, 2, 2, w].
    """

    logits: Tensor
    residual: Tensor
    contexts: Tensor

    def select(self, index: Tensor) -> "Corners":
        """Return the corners of some lists, selected by `index`, int64 [n]."""
        return Corners(*(part[index] for part in self))


def gate_names(heads: int) -> list[str]:
    """Return the names of gates, such as qk0, ov0, qk1, ov1."""
    return [f"{half}{head}" for head in range(heads) for half in HALVES]


def half_subsets(count: int) -> list[tuple[int, ...]]:
    """Return all subsets of `count` halves, small ones first."""
    return [kept for size in range(count + 1) for kept in combinations(range(count), size)]


@torch.no_grad()
def compute_half_means(model: Parameters, tokens: Tensor) -> Means:
    """Compute the mean attention and values of one model.

    Args:
        model: Parameters of one model, each [1, ...].
        tokens: Training sequences, int64 [n, 2 L + 1].
    """
    sums = [
        (forward.attention[0].double().sum(0), forward.values[0].double().sum(0))
        for forward in _run_batches(model, tokens)
    ]
    return Means(*((sum(batches) / len(tokens)).float() for batches in zip(*sums, strict=True)))


@torch.no_grad()
def compute_corners(model: Parameters, tokens: Tensor, means: Means) -> Corners:
    """Compute the contexts of one model at the corners of its gates.

    Args:
        model: Parameters of one model, each [1, ...].
        tokens: Sequences, int64 [B, 2 L + 1].
        means: Means of the model.
    """
    batches = []
    for forward in _run_batches(model, tokens):
        attention, values = forward.attention[0], forward.values[0].transpose(1, 2)  # [B, H, L, 2 L], [B, H, 2 L, w]
        mean_values = means.values.transpose(0, 1)
        pairs = [(a, v) for a in (means.attention, attention) for v in (mean_values, values)]
        products = [a @ v for a, v in pairs[:3]]
        contexts = torch.stack([*(p.expand_as(products[-1]).transpose(1, 2) for p in products), forward.contexts[0]], 3)
        batches.append(Corners(forward.logits[0], forward.residual[0], contexts.unflatten(3, (2, 2))))
    return Corners(*map(torch.cat, zip(*batches, strict=True)))


def gated_logits(model: Parameters, lists: Corners, gates: Tensor) -> Tensor:
    """Compute logits [B, L, V] of one model under gates.

    Args:
        model: Parameters of one model, each [1, ...].
        lists: Corners of B lists.
        gates: Gates between 0 and 1, [B, 2 H], or [1, 2 H] for all lists.
    """
    qk_gates, ov_gates = gates.view(len(gates), 1, -1, 2, 1).unbind(3)  # [B, 1, H, 1]
    attention_corners = lists.contexts.unbind(3)
    value_corners = torch.lerp(*attention_corners, qk_gates[..., None])  # [B, L, H, 2, w]
    contexts = torch.lerp(*value_corners.unbind(3), ov_gates)
    return read_out(model, lists.residual[None], contexts[None])[0]


@torch.no_grad()
def subset_logits(model: Parameters, lists: Corners, kept: tuple[int, ...]) -> Tensor:
    """Compute logits [B, L, V] of one model with only some halves; means replace the others.

    Args:
        model: Parameters of one model, each [1, ...].
        lists: Corners of B lists.
        kept: Numbers of the halves that are kept, in the order of :func:`gate_names`.
    """
    gates = torch.zeros(1, 2 * lists.contexts.shape[2])
    gates[0, list(kept)] = 1
    return gated_logits(model, lists, gates)


def _run_batches(model: Parameters, tokens: Tensor):
    """Run a model on all sequences, batch by batch."""
    return (run_models(model, batch) for batch in tokens.split(BATCH))
