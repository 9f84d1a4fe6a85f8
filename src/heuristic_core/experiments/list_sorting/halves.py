"""The two halves of a head, and what a model computes with any of them replaced by means.

A head's QK half decides what it attends to, its OV half what it writes of it. Without its QK half a head attends as it
does on average: the same for all lists, for every position that predicts. Without its OV half it moves average values:
the same for all lists, for every position attended to. Means are over training lists. A head without both is its
mean attention to mean values, a constant of the position.

A gate z between 0 and 1 takes z of what is the list's own and 1 - z of the mean. Gates are numbered head by head, QK
before OV. As a context is a product of attention and values, it is linear in each of the gates of its head, so that
contexts at the four corners of each head are all that gates need. Model weights never change here.
"""

from itertools import combinations
from typing import NamedTuple

import torch
from torch import Tensor

from heuristic_core.experiments.list_sorting.model import Parameters, read_out, run

BATCH = 512  # lists that go through a model at once
HALVES = ("qk", "ov")


class Means(NamedTuple):
    """Over training lists. attention: [H, L, 2 L]. values: [2 L, H, w]."""

    attention: Tensor
    values: Tensor


class Corners(NamedTuple):
    """What gates need of B lists. logits: the full model's, [B, L, V]. residual: what heads write to, [B, L, d].

    contexts: [B, L, H, 2, 2, w], with mean or own attention (fourth axis), of mean or own values (fifth).
    """

    logits: Tensor
    residual: Tensor
    contexts: Tensor

    def at(self, index: Tensor) -> "Corners":
        """Those of some of the lists. index: int64 [n]."""
        return Corners(*(part[index] for part in self))


def names(heads: int) -> list[str]:
    """What gates are called, such as qk0, ov0, qk1, ov1."""
    return [f"{half}{head}" for head in range(heads) for half in HALVES]


def subsets(count: int) -> list[tuple[int, ...]]:
    """All subsets of `count` halves, small ones first."""
    return [kept for size in range(count + 1) for kept in combinations(range(count), size)]


@torch.no_grad()
def half_means(model: Parameters, tokens: Tensor) -> Means:
    """Means of one model. tokens: int64 [n, 2 L + 1], training sequences."""
    sums = [(f.attention[0].double().sum(0), f.values[0].double().sum(0)) for f in _parts(model, tokens)]
    return Means(*((sum(parts) / len(tokens)).float() for parts in zip(*sums, strict=True)))


@torch.no_grad()
def corners(model: Parameters, tokens: Tensor, means: Means) -> Corners:
    """Of one model on sequences, int64 [B, 2 L + 1]."""
    found = []
    for part in _parts(model, tokens):
        attention, values = part.attention[0], part.values[0].transpose(1, 2)  # [B, H, L, 2 L], [B, H, 2 L, w]
        mean_values = means.values.transpose(0, 1)
        pairs = [(a, v) for a in (means.attention, attention) for v in (mean_values, values)]
        products = [a @ v for a, v in pairs[:3]]
        contexts = torch.stack([*(p.expand_as(products[-1]).transpose(1, 2) for p in products), part.contexts[0]], 3)
        found.append(Corners(part.logits[0], part.residual[0], contexts.unflatten(3, (2, 2))))
    return Corners(*map(torch.cat, zip(*found, strict=True)))


def gated_logits(model: Parameters, lists: Corners, gates: Tensor) -> Tensor:
    """Logits [B, L, V] of one model under gates [B, 2 H], or [1, 2 H] for all lists alike."""
    of_qk, of_ov = gates.view(len(gates), 1, -1, 2, 1).unbind(3)  # [B, 1, H, 1]
    by_attention = lists.contexts.unbind(3)
    of_values = torch.lerp(*by_attention, of_qk[..., None])  # [B, L, H, 2, w]
    contexts = torch.lerp(*of_values.unbind(3), of_ov)
    return read_out(model, lists.residual[None], contexts[None])[0]


@torch.no_grad()
def subset_logits(model: Parameters, lists: Corners, kept: tuple[int, ...]) -> Tensor:
    """Logits [B, L, V] of one model with the halves `kept` alone."""
    gates = torch.zeros(1, 2 * lists.contexts.shape[2])
    gates[0, list(kept)] = 1
    return gated_logits(model, lists, gates)


def _parts(model: Parameters, tokens: Tensor):
    """What a model does on all sequences, part by part."""
    return (run(model, part) for part in tokens.split(BATCH))
