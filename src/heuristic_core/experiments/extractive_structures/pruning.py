"""Find the heads and MLPs that a taught model needs to answer, with hard-concrete gates and greedily.

A pruned component outputs its mean over all tokens of the questions; a gate z between 0 and 1 interpolates between this
mean (0) and the output (1). Components are numbered layer by layer, the heads of a layer before its MLP. Gates,
objective and controller are those of :mod:`heuristic_core.pruning`; here a batch consists of questions, and
KL(full || gated) is computed at the token of the answer. Model weights never change.
"""

from collections.abc import Sequence
from functools import partial
from statistics import fmean
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from heuristic_core.common.errors import InputError
from heuristic_core.common.seeds import derive_seed
from heuristic_core.experiments.extractive_structures.answers import compute_ranks, option_logits
from heuristic_core.experiments.extractive_structures.config import MAX_EXHAUSTIVE_COMPONENTS, Pruning
from heuristic_core.experiments.extractive_structures.model import Shifts, run
from heuristic_core.experiments.extractive_structures.parameters import Parameters
from heuristic_core.experiments.extractive_structures.removal import identify_component
from heuristic_core.experiments.extractive_structures.scores import mask_prompts
from heuristic_core.experiments.extractive_structures.tokens import Queries
from heuristic_core.models.components import kept_count
from heuristic_core.pruning.hard_concrete import keep_largest
from heuristic_core.pruning.learner import Learner, PruningRun
from heuristic_core.pruning.loop import PruningResult, fit

DRAW_STEPS = 50  # steps whose draws are made together


class FullModel(NamedTuple):
    """A model, its questions, and the values that pruning needs.

    Attributes:
        model: Parameters.
        queries: The questions.
        answers: Log-probabilities at the last token of each prompt, [n, V].
        contexts: Mean context of each head by layer, [H, w].
        mlps: Mean output of the MLP by layer, [d].
    """

    model: Parameters
    queries: Queries
    answers: Tensor
    contexts: list[Tensor]
    mlps: list[Tensor]

    @property
    def shape(self) -> tuple[int, int]:
        """Number of layers, and number of components of each layer."""
        return len(self.mlps), len(self.contexts[0]) + 1


@torch.no_grad()
def run_full_model(model: Parameters, queries: Queries) -> FullModel:
    """Run a model on questions and compute the values that pruning needs.

    Args:
        model: Parameters of the model.
        queries: The questions.
    """
    result, mask = run(model, queries.tokens), mask_prompts(queries)
    contexts, mlps = ([getattr(layer, name)[mask].mean(0) for layer in result.layers] for name in ("context", "mlp"))
    return FullModel(model, queries, _answer_log_probs(result.logits, queries), contexts, mlps)


def run_gated(full: FullModel, queries: Queries, gates: Tensor) -> Tensor:
    """Return the logits of questions under gates, [n, T, V].

    Args:
        full: The model and the means that replace closed components.
        queries: n questions of T tokens.
        gates: Gates between 0 and 1, [n, layers, H + 1], or [1, layers, H + 1] for all questions. A layer's last gate
            is its MLP's.
    """
    sites: Shifts = {}
    for layer, (context, mlp) in enumerate(zip(full.contexts, full.mlps, strict=True)):
        heads, inner = gates[:, layer, :-1, None], gates[:, layer, -1:]
        sites |= {
            (layer, "context"): partial(_interpolate, context, heads[:, None]),
            (layer, "mlp"): partial(_interpolate, mlp, inner[:, None]),
        }
    return run(full.model, queries.tokens, sites).logits


def subnetwork_rows(full: FullModel, settings: Pruning, purpose: str, seed: int) -> list[dict]:
    """Find subnetworks with gates and greedily, and return rows of table "extractive_subnetworks", without names.

    Args:
        full: The full model and its questions.
        settings: Settings of pruning.
        purpose: See :func:`learn_gates`.
        seed: See :func:`learn_gates`.

    Returns:
        A row for each component of each subnetwork.

    Raises:
        InputError: If the sparsity keeps none or all of the components.
    """
    layers, parts = full.shape
    count = kept_count(layers * parts, settings.sparsity)
    if not 0 < count < layers * parts:
        raise InputError(
            f"pruning.sparsity = {settings.sparsity} keeps {count} of {layers * parts} components, which leaves "
            f"nothing to learn; choose a value near a multiple of {1 / (layers * parts):.3g} between 0 and 1"
        )
    rows = []
    for prune_seed, result in zip(settings.seeds, learn_gates(full, settings, purpose, seed), strict=True):
        labels = {"how": "learned", "prune_seed": prune_seed, "sampled_sparsity": _final_sparsity(result)}
        kept = None if result.failure else keep_largest(result.log_alpha, count)
        rows += _mask_rows(full, kept, labels | {"reason": result.failure})
    few = layers * parts <= MAX_EXHAUSTIVE_COMPONENTS
    reason = (
        None if few else f"{layers * parts} components; greedy subnetworks are of at most {MAX_EXHAUSTIVE_COMPONENTS}"
    )
    labels = {"how": "greedy", "prune_seed": None, "sampled_sparsity": None, "reason": reason}
    return rows + _mask_rows(full, prune_greedily(full, count) if few else None, labels)


def learn_gates(full: FullModel, settings: Pruning, purpose: str, seed: int) -> list[PruningResult]:
    """Learn log_alpha for every pruning seed, as :func:`heuristic_core.pruning.prune.prune` does for other models.

    `purpose` and `seed` are part of the names of draws, because common draws would make subnetworks of different models
    more alike.

    Args:
        full: The full model and its questions.
        settings: Settings of pruning.
        purpose: Answers to preserve, such as "first facts".
        seed: Seed of the model.

    Returns:
        A result for each pruning seed.
    """
    gates, (layers, parts) = settings.gates, full.shape
    per_draw = gates.batch_size // gates.gate_draws
    draws = [derive_seed(f"pruning, {purpose}", seed, prune_seed) for prune_seed in settings.seeds]
    runs = [PruningRun(settings.sparsity, draw) for draw in draws]

    def divergence(z: Tensor, index: Tensor) -> tuple[Tensor, Tensor]:
        index = index.to(full.answers.device)
        samples, queries = z.detach().requires_grad_(), full.queries.select(index)
        question_gates = samples.view(-1, layers, parts).repeat_interleave(per_draw, 0)
        kl = (
            _kl(full.answers[index], _answer_log_probs(run_gated(full, queries, question_gates), queries))
            / gates.batch_size
        )
        kl.sum().backward()
        return kl.detach().view(len(z), -1).sum(-1), samples.grad

    learner = Learner(runs, gates, layers * parts, full.answers.device)
    return fit(
        learner, lambda learner, draw: learner.compute_gradients(draw, divergence), len(full.answers), DRAW_STEPS
    )


def prune_greedily(full: FullModel, count: int) -> list[int]:
    """Remove components one by one, each time the one that raises the KL least, until `count` are left.

    Args:
        full: The full model and its answers.
        count: Number of components to keep.
    """
    layers, parts = full.shape
    kept = list(range(layers * parts))
    while len(kept) > count:
        costs = [measure_divergence(full, [number for number in kept if number != removed]) for removed in kept]
        kept.pop(costs.index(min(costs)))
    return kept


@torch.no_grad()
def measure_divergence(full: FullModel, kept: Sequence[int]) -> float:
    """Return KL(full || subnetwork), mean over questions, nats.

    Args:
        full: The full model, its questions and its answers.
        kept: Indices of the components that the subnetwork keeps.
    """
    return float(
        _kl(full.answers, _answer_log_probs(run_gated(full, full.queries, _gate_mask(full, kept)), full.queries))
        .double()
        .mean()
    )


@torch.no_grad()
def measure_rank(full: FullModel, kept: Sequence[int]) -> float:
    """Return the mean rank of the right answers in a subnetwork.

    Args:
        full: The full model and its questions.
        kept: Indices of the components that the subnetwork keeps.
    """
    logits = option_logits(run_gated(full, full.queries, _gate_mask(full, kept)), full.queries)
    return float(compute_ranks(logits, full.queries.answer).double().mean())


def _mask_rows(full: FullModel, kept: list[int] | None, labels: dict) -> list[dict]:
    """Return a row for each component; `kept` has the subnetwork's components, or is None if pruning failed."""
    layers, parts = full.shape
    labels |= (
        {"rank": None, "kl": None}
        if kept is None
        else {"rank": measure_rank(full, kept), "kl": measure_divergence(full, kept)}
    )
    return [
        identify_component(number // parts, number % parts, parts - 1)
        | labels
        | {"kept": None if kept is None else number in kept}
        for number in range(layers * parts)
    ]


def _gate_mask(full: FullModel, kept: Sequence[int]) -> Tensor:
    """Return gates, [1, layers, H + 1]: 1 for the components `kept`, else 0."""
    layers, parts = full.shape
    gates = torch.zeros(layers * parts)
    gates[list(kept)] = 1
    return gates.view(1, layers, parts)


def _interpolate(mean: Tensor, gates: Tensor, output: Tensor) -> Tensor:
    """Interpolate between a mean output (gate 0) and the output (gate 1)."""
    return mean + gates * (output - mean)


def _answer_log_probs(logits: Tensor, queries: Queries) -> Tensor:
    return F.log_softmax(logits[torch.arange(len(logits)), queries.last], -1)


def _kl(full: Tensor, other: Tensor) -> Tensor:
    return (full.exp() * (full - other)).sum(-1)


def _final_sparsity(result: PruningResult) -> float | None:
    """Return the mean sparsity of sampled gates over the last tenth of recorded steps; None without records."""
    sparsities = [row["sampled_sparsity"] for row in result.trace]
    return fmean(sparsities[-max(1, len(sparsities) // 10) :]) if sparsities else None
