"""Which heads and MLPs a taught model needs to answer: subnetworks that hard-concrete gates learn, and greedy ones.

A component that is left out gives its mean over all tokens of the questions; a gate z between 0 and 1 takes z of its
own output. Components are numbered layer by layer, the heads of a layer before its MLP. Gates, their objective and
their controller are those of :mod:`heuristic_core.pruning`; here a batch is of questions, and KL(full || gated) is
about the token of the answer. Model weights never change.
"""

from collections.abc import Sequence
from functools import partial
from statistics import fmean
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from heuristic_core.common.errors import InputError
from heuristic_core.common.seeds import seed_for
from heuristic_core.experiments.extractive_structures.answers import option_logits, ranks
from heuristic_core.experiments.extractive_structures.config import FEW, Pruning
from heuristic_core.experiments.extractive_structures.model import Parameters, Shifts, run
from heuristic_core.experiments.extractive_structures.removal import component
from heuristic_core.experiments.extractive_structures.scores import inside
from heuristic_core.experiments.extractive_structures.tokens import Asked
from heuristic_core.models.components import kept_count
from heuristic_core.pruning.hard_concrete import keep_largest
from heuristic_core.pruning.learner import Learner, PruningRun
from heuristic_core.pruning.loop import Pruned, learned

CHUNK = 50  # steps whose draws are made at once


class Whole(NamedTuple):
    """A model, its questions, and what gates need. answers: log-probabilities of all tokens at the last one, [n, V].

    contexts, mlps: by layer, the mean of heads' contexts [H, w], and of the MLP's output [d].
    """

    model: Parameters
    asked: Asked
    answers: Tensor
    contexts: list[Tensor]
    mlps: list[Tensor]

    @property
    def shape(self) -> tuple[int, int]:
        """Layers, and the components of each."""
        return len(self.mlps), len(self.contexts[0]) + 1


@torch.no_grad()
def whole(model: Parameters, asked: Asked) -> Whole:
    """What gates need of a model and its questions."""
    found, seen = run(model, asked.tokens), inside(asked)
    contexts, mlps = ([getattr(layer, name)[seen].mean(0) for layer in found.layers] for name in ("context", "mlp"))
    return Whole(model, asked, _answers(found.logits, asked), contexts, mlps)


def gated(of: Whole, asked: Asked, gates: Tensor) -> Tensor:
    """Logits [n, T, V] of questions under gates [n, layers, H + 1], or [1, layers, H + 1] for all alike."""
    sites: Shifts = {}
    for layer, (context, mlp) in enumerate(zip(of.contexts, of.mlps, strict=True)):
        heads, inner = gates[:, layer, :-1, None], gates[:, layer, -1:]
        sites |= {
            (layer, "context"): partial(_between, context, heads[:, None]),
            (layer, "mlp"): partial(_between, mlp, inner[:, None]),
        }
    return run(of.model, asked.tokens, sites).logits


def subnetwork_rows(of: Whole, settings: Pruning, purpose: str, seed: int) -> list[dict]:
    """Rows of table "extractive_subnetworks", without names: a row for each component of each subnetwork.

    purpose, seed: as of :func:`learn`.
    """
    layers, parts = of.shape
    count = kept_count(layers * parts, settings.sparsity)
    if not 0 < count < layers * parts:
        raise InputError(
            f"pruning.sparsity = {settings.sparsity} keeps {count} of {layers * parts} components, and is no subset to "
            f"learn; give a sparsity near a multiple of {1 / (layers * parts):.3g} between 0 and 1"
        )
    rows = []
    for prune_seed, found in zip(settings.seeds, learn(of, settings, purpose, seed), strict=True):
        about = {"how": "learned", "prune_seed": prune_seed, "sampled_sparsity": _reached(found)}
        kept = None if found.failed else keep_largest(found.log_alpha, count)
        rows += _rows(of, kept, about | {"reason": found.failed})
    few = layers * parts <= FEW
    reason = None if few else f"{layers * parts} components; greedy subnetworks are of at most {FEW}"
    about = {"how": "greedy", "prune_seed": None, "sampled_sparsity": None, "reason": reason}
    return rows + _rows(of, greedy(of, count) if few else None, about)


def learn(of: Whole, settings: Pruning, purpose: str, seed: int) -> list[Pruned]:
    """Learn log_alpha for every pruning seed, as :func:`heuristic_core.pruning.prune.prune` does of other models.

    purpose: what answers are to be kept, such as "first facts". seed: of the study. Both are in the names of draws:
    subnetworks of several models with common draws would be alike by these draws, and the models no independent ones.
    """
    gates, (layers, parts) = settings.gates, of.shape
    per_draw = gates.batch_size // gates.gate_draws
    draws = [seed_for(f"pruning, {purpose}", seed, prune_seed) for prune_seed in settings.seeds]
    runs = [PruningRun(settings.sparsity, draw) for draw in draws]

    def divergence(z: Tensor, index: Tensor) -> tuple[Tensor, Tensor]:
        index = index.to(of.answers.device)
        samples, asked = z.detach().requires_grad_(), of.asked.of(index)
        of_questions = samples.view(-1, layers, parts).repeat_interleave(per_draw, 0)
        kl = _kl(of.answers[index], _answers(gated(of, asked, of_questions), asked)) / gates.batch_size
        kl.sum().backward()
        return kl.detach().view(len(z), -1).sum(-1), samples.grad

    learner = Learner(runs, gates, layers * parts, of.answers.device)
    return learned(learner, lambda one, draw: one.descend(draw, divergence), len(of.answers), CHUNK)


def greedy(of: Whole, count: int) -> list[int]:
    """The `count` components that are left when, one by one, the component goes whose loss raises the KL least."""
    layers, parts = of.shape
    kept = list(range(layers * parts))
    while len(kept) > count:
        costs = [divergence_of(of, [one for one in kept if one != gone]) for gone in kept]
        kept.pop(costs.index(min(costs)))
    return kept


@torch.no_grad()
def divergence_of(of: Whole, kept: Sequence[int]) -> float:
    """KL(full || subnetwork) with the components `kept` alone, mean over questions, nats."""
    return float(_kl(of.answers, _answers(gated(of, of.asked, _mask(of, kept)), of.asked)).double().mean())


@torch.no_grad()
def rank_of(of: Whole, kept: Sequence[int]) -> float:
    """Mean rank of the right answers with the components `kept` alone."""
    found = option_logits(gated(of, of.asked, _mask(of, kept)), of.asked)
    return float(ranks(found, of.asked.answer).double().mean())


def _rows(of: Whole, kept: list[int] | None, about: dict) -> list[dict]:
    layers, parts = of.shape
    about |= {"rank": None, "kl": None} if kept is None else {"rank": rank_of(of, kept), "kl": divergence_of(of, kept)}
    return [
        component(number // parts, number % parts, parts - 1)
        | about
        | {"kept": None if kept is None else number in kept}
        for number in range(layers * parts)
    ]


def _mask(of: Whole, kept: Sequence[int]) -> Tensor:
    layers, parts = of.shape
    gates = torch.zeros(layers * parts)
    gates[list(kept)] = 1
    return gates.view(1, layers, parts)


def _between(mean: Tensor, gates: Tensor, output: Tensor) -> Tensor:
    """`gates` of the output, and the rest of its mean."""
    return mean + gates * (output - mean)


def _answers(logits: Tensor, asked: Asked) -> Tensor:
    return F.log_softmax(logits[torch.arange(len(logits)), asked.last], -1)


def _kl(full: Tensor, other: Tensor) -> Tensor:
    return (full.exp() * (full - other)).sum(-1)


def _reached(found: Pruned) -> float | None:
    """The mean sparsity of sampled gates over the last tenth of recorded steps; None where none is recorded."""
    sampled = [row["sampled_sparsity"] for row in found.trace]
    return fmean(sampled[-max(1, len(sampled) // 10) :]) if sampled else None
