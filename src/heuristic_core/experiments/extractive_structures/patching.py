"""What scores stand for, at full size: a component's output at a token is replaced, and the run goes on.

These are the same numbers as scores where R is linear in the output, a run for every component and token.
"""

from collections.abc import Iterable

import torch
from torch import Tensor

from heuristic_core.experiments.extractive_structures.answers import losses
from heuristic_core.experiments.extractive_structures.model import Layer, Parameters, Pass, Shifts, mlp, run, run_from
from heuristic_core.experiments.extractive_structures.scores import (
    Contrast,
    counterfactual_differences,
    known,
    learned_outputs,
    moved_outputs,
    over_partners,
)
from heuristic_core.experiments.extractive_structures.tokens import Asked


@torch.no_grad()
def patched(of: Contrast) -> dict[str, Tensor]:
    """By kind of score, the fall of R, [n, T, layers, H + 1]; NaN where scores are. `upstream` is the mean over
    counterfactual prompts, whose outputs are put in place one by one. A model has at most FEW components."""
    old, new = (run(p, of.asked.tokens) for p in (of.old, of.new))
    moved = moved_outputs(of.old, old.layers, new.layers)
    found = {
        "informative": _falls(of.old, of.asked, old, _learned(of, old.layers)),
        "downstream": _falls(of.old, of.asked, old, _replaced(moved, len(old.layers))),
    }
    each = []
    for k in range(of.others.shape[1]):
        one = of._replace(others=of.others[:, k : k + 1], partners=of.partners[:, k : k + 1])
        other = {site: -value for site, value in counterfactual_differences(one, old.layers).items()}
        falls = [
            _falls(p, of.asked, whole, _replaced(other, len(old.layers))) for p, whole in ((of.old, old), (of.new, new))
        ]
        each.append(falls[0] - falls[1])
    found["upstream"] = over_partners(of, torch.stack(each, 1))
    return {kind: known(of, kind, value) for kind, value in found.items()}


def _learned(of: Contrast, layers: list[Layer]) -> Iterable[list[Shifts]]:
    """By layer, the shifts of each component: its outputs, from the old run's inputs, by the new weights.

    A head's matrices are replaced each in its place, so that what its new contexts add through its new output alone, a
    change of second order, is left out.
    """
    for number, layer in enumerate(layers):
        outputs = learned_outputs(of.old, of.new, number, layer)
        heads = outputs["write"].shape[2]
        of_heads = []
        for head in range(heads):
            shifts = {(number, name): _alone(outputs[name], head) for name in ("query", "key", "value")}
            of_heads.append(shifts | {(number, "write"): outputs["write"][:, :, head]})
        yield [*of_heads, {(number, "mlp"): mlp(of.new, number, layer.seen) - layer.mlp}]


def _replaced(outputs: Shifts, layers: int) -> Iterable[list[Shifts]]:
    """By layer, the shifts of each component; outputs: changes of `context` and `mlp`."""
    for number in range(layers):
        context = outputs[number, "context"]
        heads = [{(number, "context"): _alone(context, head)} for head in range(context.shape[2])]
        yield [*heads, {(number, "mlp"): outputs[number, "mlp"]}]


def _alone(output: Tensor, head: int) -> Tensor:
    """`output`, [n, T, H, w], of one head; 0 of the others."""
    found = torch.zeros_like(output)
    found[:, :, head] = output[:, :, head]
    return found


def _falls(p: Parameters, asked: Asked, whole: Pass, components: Iterable[list[Shifts]]) -> Tensor:
    """How much R falls, [n, T, layers, H + 1], with each component's shifts at one token at a time. whole: the run
    without."""
    before = losses(whole.logits, asked).double()
    found = []
    for number, of_layer in enumerate(components):
        residual = whole.layers[number].residual
        falls = [before[:, None] - _each_token(p, asked, residual, number, shifts) for shifts in of_layer]
        found.append(torch.stack(falls, -1))
    return torch.stack(found, 2)


def _each_token(p: Parameters, asked: Asked, residual: Tensor, layer: int, shifts: Shifts) -> Tensor:
    """R with shifts at one token, [n, T]; residual: before their layer."""
    n, length = asked.tokens.shape
    positions = torch.arange(length)
    alone = positions[:, None] == positions
    at_one = {
        site: (value[:, None] * alone.to(value.dtype).view(1, length, length, *[1] * (value.dim() - 2))).flatten(0, 1)
        for site, value in shifts.items()
    }
    rows = torch.arange(n).repeat_interleave(length)
    every = asked.of(rows)
    return losses(run_from(p, residual[rows], at_one, layer).logits, every).double().view(n, length)
