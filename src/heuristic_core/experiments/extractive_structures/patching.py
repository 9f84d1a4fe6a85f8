"""Measure what extractive scores estimate: replace a component's output at a token, and run the rest of the model.

The results equal the scores if R is linear in the output. Every component and token takes a run.
"""

from collections.abc import Iterable

import torch
from torch import Tensor

from heuristic_core.experiments.extractive_structures.answers import compute_losses
from heuristic_core.experiments.extractive_structures.counterfactuals import (
    Contrast,
    average_over_partners,
    compute_counterfactual_differences,
)
from heuristic_core.experiments.extractive_structures.model import ForwardPass, Layer, Shifts, apply_mlp, run, run_from
from heuristic_core.experiments.extractive_structures.parameters import Parameters
from heuristic_core.experiments.extractive_structures.scores import (
    compute_input_effects,
    compute_weight_effects,
    mask_undefined,
)
from heuristic_core.experiments.extractive_structures.tokens import Queries


@torch.no_grad()
def measure_replacement(contrast: Contrast) -> dict[str, Tensor]:
    """Measure the fall of R under full replacement.

    Use it for models with at most `FEW` components.

    Args:
        contrast: Models, questions and counterfactual prompts.

    Returns:
        Falls by kind of score, [n, T, layers, H + 1]; NaN where scores are NaN. "upstream" is the mean over
        counterfactual prompts, whose outputs are inserted one prompt at a time.
    """
    old, new = (run(p, contrast.queries.tokens) for p in (contrast.old, contrast.new))
    moved = compute_input_effects(contrast.old, old.layers, new.layers)
    falls = {
        "informative": _measure_falls(contrast.old, contrast.queries, old, _weight_shifts(contrast, old.layers)),
        "downstream": _measure_falls(contrast.old, contrast.queries, old, _output_shifts(moved, len(old.layers))),
    }
    upstream = []
    for k in range(contrast.others.shape[1]):
        pair = contrast._replace(others=contrast.others[:, k : k + 1], partners=contrast.partners[:, k : k + 1])
        changes = {site: -value for site, value in compute_counterfactual_differences(pair, old.layers).items()}
        old_fall, new_fall = (
            _measure_falls(p, contrast.queries, baseline, _output_shifts(changes, len(old.layers)))
            for p, baseline in ((contrast.old, old), (contrast.new, new))
        )
        upstream.append(old_fall - new_fall)
    falls["upstream"] = average_over_partners(contrast, torch.stack(upstream, 1))
    return {kind: mask_undefined(contrast, kind, values) for kind, values in falls.items()}


def _weight_shifts(contrast: Contrast, layers: list[Layer]) -> Iterable[list[Shifts]]:
    """Yield by layer the shifts of each component from its old outputs to those of the new weights on the old inputs.

    Each matrix of a head is replaced separately, which leaves out a second-order term: the new contexts times the
    change of the output matrix.
    """
    for number, layer in enumerate(layers):
        outputs = compute_weight_effects(contrast.old, contrast.new, number, layer)
        heads = outputs["write"].shape[2]
        head_shifts = []
        for head in range(heads):
            shifts = {(number, name): _select_head(outputs[name], head) for name in ("query", "key", "value")}
            head_shifts.append(shifts | {(number, "write"): outputs["write"][:, :, head]})
        yield [*head_shifts, {(number, "mlp"): apply_mlp(contrast.new, number, layer.mlp_input) - layer.mlp}]


def _output_shifts(outputs: Shifts, layers: int) -> Iterable[list[Shifts]]:
    """Yield the shifts of each component, layer by layer.

    Args:
        outputs: Changes of `context` and `mlp`.
        layers: Number of layers.
    """
    for number in range(layers):
        context = outputs[number, "context"]
        heads = [{(number, "context"): _select_head(context, head)} for head in range(context.shape[2])]
        yield [*heads, {(number, "mlp"): outputs[number, "mlp"]}]


def _select_head(output: Tensor, head: int) -> Tensor:
    """Return `output`, [n, T, H, w], with all other heads set to 0."""
    masked = torch.zeros_like(output)
    masked[:, :, head] = output[:, :, head]
    return masked


def _measure_falls(
    p: Parameters, queries: Queries, baseline: ForwardPass, components: Iterable[list[Shifts]]
) -> Tensor:
    """Return the falls of R, [n, T, layers, H + 1], with each component's shifts at one token at a time.

    Args:
        p: Parameters.
        queries: Questions.
        baseline: Run without shifts.
        components: Shifts of each component, layer by layer.
    """
    before = compute_losses(baseline.logits, queries).double()
    layer_falls = []
    for number, layer_shifts in enumerate(components):
        residual = baseline.layers[number].residual
        falls = [before[:, None] - _shift_each_token(p, queries, residual, number, shifts) for shifts in layer_shifts]
        layer_falls.append(torch.stack(falls, -1))
    return torch.stack(layer_falls, 2)


def _shift_each_token(p: Parameters, queries: Queries, residual: Tensor, layer: int, shifts: Shifts) -> Tensor:
    """Return R with shifts at one token at a time, [n, T]; `residual` is the residual stream before the layer."""
    n, length = queries.tokens.shape
    positions = torch.arange(length)
    one_hot = positions[:, None] == positions
    token_shifts = {
        site: (value[:, None] * one_hot.to(value.dtype).view(1, length, length, *[1] * (value.dim() - 2))).flatten(0, 1)
        for site, value in shifts.items()
    }
    rows = torch.arange(n).repeat_interleave(length)
    repeated = queries.select(rows)
    return compute_losses(run_from(p, residual[rows], token_shifts, layer).logits, repeated).double().view(n, length)
