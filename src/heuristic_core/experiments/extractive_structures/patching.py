"""What scores stand for, at full size: a component's output at a token is replaced, and the run goes on.

These are the same numbers as scores where R is linear in the output, a run for every component and token.
"""

from collections.abc import Iterable

import torch
from torch import Tensor

from heuristic_core.experiments.extractive_structures.answers import losses
from heuristic_core.experiments.extractive_structures.model import Layer, Parameters, Shifts, mlp, run
from heuristic_core.experiments.extractive_structures.scores import (
    Contrast,
    counterfactual_differences,
    inside,
    learned_outputs,
    moved_outputs,
)
from heuristic_core.experiments.extractive_structures.tokens import Asked


@torch.no_grad()
def patched(of: Contrast) -> dict[str, Tensor]:
    """By kind of score, the fall of R, [n, T, layers, H + 1]; NaN beyond a prompt's end, and of `upstream` where a
    token has no partner. The counterfactual output of `upstream` is the mean over counterfactual prompts."""
    old, new = (run(p, of.asked.tokens).layers for p in (of.old, of.new))
    moved = moved_outputs(of.old, old, new)
    other = {site: -value for site, value in counterfactual_differences(of, old).items()}
    found = {
        "informative": _falls(of.old, of.asked, _learned(of, old)),
        "downstream": _falls(of.old, of.asked, _replaced(moved, len(old))),
        "upstream": _falls(of.old, of.asked, _replaced(other, len(old)))
        - _falls(of.new, of.asked, _replaced(other, len(old))),
    }
    partnered = (of.partners >= 0).any(1)
    seen = inside(of.asked)
    return {
        kind: value.masked_fill(~(seen & partnered if kind == "upstream" else seen)[..., None, None], torch.nan)
        for kind, value in found.items()
    }


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


def _falls(p: Parameters, asked: Asked, components: Iterable[list[Shifts]]) -> Tensor:
    """How much R falls, [n, T, layers, H + 1], with each component's shifts at one token at a time."""
    before = losses(run(p, asked.tokens).logits, asked).double()
    return torch.stack(
        [torch.stack([before[:, None] - _each_token(p, asked, s) for s in one], -1) for one in components], 2
    )


def _each_token(p: Parameters, asked: Asked, shifts: Shifts) -> Tensor:
    """R with shifts at one token, [n, T]."""
    n, length = asked.tokens.shape
    positions = torch.arange(length)
    alone = positions[:, None] == positions
    at_one = {
        site: (value[:, None] * alone.to(value.dtype).view(1, length, length, *[1] * (value.dim() - 2))).flatten(0, 1)
        for site, value in shifts.items()
    }
    every = asked.of(torch.arange(n).repeat_interleave(length))
    return losses(run(p, every.tokens, at_one).logits, every).double().view(n, length)
