"""Extractive scores: first-order contributions of a component at a token to the answers of a fine-tuned model.

W is the model before facts were taught and W' the model after; R is the loss of :func:`.answers.compute_losses`, and g
its gradient with respect to a component's output (a head's context, an MLP's output). With x the input of a component
in a run of W and x' in a run of W':

- informative: - sum over the component's matrices of (dW input) . g_W, with g_W the gradient with respect to the
  matrix's output: the component has learned the fact;
- downstream: (out_W(x) - out_W(x')) . g_W: the old component processes what others have learned;
- upstream: (g_W - g_W') . (out_W - out_W on a counterfactual prompt): the old component's output matters now.

These three follow the authors' code (extractive_scores.py), per token and question; they are positive if R falls.
`upstream_path` is defined by this project: its gradients are means along a line of embeddings from the counterfactual
prompt to the prompt, so that saturation of R at a stored fact does not hide contributions.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from heuristic_core.experiments.extractive_structures.answers import compute_losses
from heuristic_core.experiments.extractive_structures.config import MAX_STORED_ACTIVATIONS
from heuristic_core.experiments.extractive_structures.counterfactuals import (
    Contrast,
    average_over_partners,
    compute_counterfactual_differences,
    site_differences,
    subtract_partners,
)
from heuristic_core.experiments.extractive_structures.model import (
    Layer,
    Shifts,
    Site,
    apply_mlp,
    attend,
    embed,
    project_heads,
    repeat_heads,
    run,
    run_from,
    site_shapes,
)
from heuristic_core.experiments.extractive_structures.parameters import Parameters, count_layers
from heuristic_core.experiments.extractive_structures.tokens import Queries

KINDS = ("informative", "downstream", "upstream", "upstream_path")
STORED_VECTORS = (
    80  # vectors of the residual stream's width that a run with gradients stores per token and layer, measured
)


class LinearisedRun(NamedTuple):
    """A run and its gradients.

    Attributes:
        layers: Activations by layer.
        gradients: Gradient of every question's R with respect to the output of every site.
    """

    layers: list[Layer]
    gradients: dict[Site, Tensor]


def compute_scores(contrast: Contrast, path_steps: int) -> dict[str, Tensor]:
    """Compute every kind of score.

    Args:
        contrast: Models, questions and counterfactual prompts.
        path_steps: Number of points over which the gradients of `upstream_path` are averaged.

    Returns:
        Scores by kind, [n, T, layers, H + 1]: heads, then the MLP. NaN after a prompt's end, and for upstream scores if
        a token has no partner in any counterfactual prompt.
    """
    path_scores = average_path_scores(contrast, path_steps)
    return compute_first_order(contrast) | {"upstream_path": mask_undefined(contrast, "upstream_path", path_scores)}


def compute_first_order(contrast: Contrast) -> dict[str, Tensor]:
    """Compute the paper's three kinds of score, see :func:`compute_scores`."""
    old, new = (linearise(p, embed(p, contrast.queries.tokens), contrast.queries) for p in (contrast.old, contrast.new))
    by_kind = {
        "informative": score_informative(contrast.old, contrast.new, old),
        "downstream": score_downstream(contrast.old, old, new.layers),
        "upstream": score_upstream(old, new, compute_counterfactual_differences(contrast, old.layers)),
    }
    return {kind: mask_undefined(contrast, kind, values) for kind, values in by_kind.items()}


def mask_undefined(contrast: Contrast, kind: str, values: Tensor) -> Tensor:
    """Set scores to NaN at tokens where their kind is undefined.

    Args:
        contrast: Models, questions and counterfactual prompts.
        kind: Kind of score, one of `KINDS`.
        values: Scores, [n, T, layers, H + 1].

    Returns:
        Scores with NaN after a prompt's end, and for upstream scores where a token has no partner in any counterfactual
        prompt.
    """
    partnered = (contrast.partners >= 0).any(1)  # only within prompts
    valid = partnered if kind.startswith("upstream") else mask_prompts(contrast.queries)
    return values.masked_fill(~valid[..., None, None], torch.nan)


def linearise(p: Parameters, residual: Tensor, queries: Queries) -> LinearisedRun:
    """Run a model from its first layer on, and compute the gradients at all sites.

    Args:
        p: Parameters.
        residual: Residual stream before the first layer, [n, T, d].
        queries: The questions, whose losses R (nats) are differentiated.
    """
    shifts = {
        site: torch.zeros(shape, dtype=residual.dtype, requires_grad=True)
        for site, shape in site_shapes(p, *residual.shape[:2]).items()
    }
    result = run_from(p, residual, shifts)
    gradients = torch.autograd.grad(compute_losses(result.logits, queries).sum(), list(shifts.values()))
    layers = [Layer(*(value.detach() for value in layer)) for layer in result.layers]
    return LinearisedRun(layers, dict(zip(shifts, gradients, strict=True)))


def score_informative(old: Parameters, new: Parameters, old_run: LinearisedRun) -> Tensor:
    """Return informative scores: - sum over a component's matrices of (dW input) . g_W.

    Args:
        old: Parameters before facts were taught.
        new: Parameters after facts were taught.
        old_run: The run of the old model.

    Returns:
        Scores, [n, T, layers, H + 1], as falls of R in nats.
    """
    layer_scores = []
    for number, layer in enumerate(old_run.layers):
        learned = compute_weight_effects(old, new, number, layer)
        heads = sum(dot(learned[name], old_run.gradients[number, name]) for name in ("query", "key", "value"))
        heads = heads + dot(learned["write"], old_run.gradients[number, "write"][:, :, None])
        inner = sum(
            dot(learned[name], old_run.gradients[number, name]) for name in ("gate", "hidden", "mlp") if name in learned
        )
        layer_scores.append(-torch.cat([heads, inner[..., None]], -1))
    return torch.stack(layer_scores, 2)


def compute_weight_effects(old: Parameters, new: Parameters, number: int, layer: Layer) -> dict[str, Tensor]:
    """Return what the changes of a layer's matrices and biases add to their outputs on unchanged inputs.

    Args:
        old: Parameters before facts were taught.
        new: Parameters after facts were taught.
        number: Number of the layer.
        layer: Activations of the layer in the run of the old model.

    Returns:
        Changes by site; `write` by head, [n, T, H, d]. Shared keys and values are repeated for each of their heads.
    """

    def change(name: str) -> Tensor | float:
        return new[f"{number}.{name}"] - old[f"{number}.{name}"] if f"{number}.{name}" in old else 0.0

    heads = layer.context.shape[2]
    changes = {
        name: repeat_heads(project_heads(layer.attention_input, change(name)) + change(f"{name}_bias"), heads)
        for name in ("query", "key", "value")
    }
    changes["write"] = (layer.context[..., None, :] @ change("output")).squeeze(-2)
    if f"{number}.gate" in old:
        changes["gate"] = layer.mlp_input @ change("gate")
    return changes | {"hidden": layer.mlp_input @ change("up"), "mlp": layer.mlp_hidden @ change("down")}


def score_downstream(old: Parameters, old_run: LinearisedRun, new: Sequence[Layer]) -> Tensor:
    """Return downstream scores: (out_W(x) - out_W(x')) . g_W.

    Args:
        old: Parameters before facts were taught.
        old_run: The run of the old model.
        new: Layers of the run of the new model.

    Returns:
        Scores, [n, T, layers, H + 1], as falls of R in nats.
    """
    changes = compute_input_effects(old, old_run.layers, new)
    return -_dot_by_component(changes, old_run.gradients)


def compute_input_effects(old: Parameters, layers: Sequence[Layer], new: Sequence[Layer]) -> Shifts:
    """Return how outputs of the old components change when their inputs come from the new model's run.

    Args:
        old: Parameters before facts were taught.
        layers: Activations of the old model by layer.
        new: Activations of the new model by layer.

    Returns:
        Changes of `context` [n, T, H, w] and `mlp` [n, T, d] by layer and site: out_W(x') - out_W(x).
    """
    changes = {}
    for number, (before, after) in enumerate(zip(layers, new, strict=True)):
        changes[number, "context"] = attend(old, number, after.attention_input) - before.context
        changes[number, "mlp"] = apply_mlp(old, number, after.mlp_input) - before.mlp
    return changes


def score_upstream(old: LinearisedRun, new: LinearisedRun, differences: Shifts) -> Tensor:
    """Return upstream scores: (g_W - g_W') . (out_W - out_W on a counterfactual prompt).

    Args:
        old: The run of the old model.
        new: The run of the new model.
        differences: Differences of the old model's outputs, see :func:`.compute_counterfactual_differences`.

    Returns:
        Scores, [n, T, layers, H + 1], as falls of R in nats.
    """
    return _dot_by_component(differences, {site: old.gradients[site] - new.gradients[site] for site in differences})


def average_path_scores(contrast: Contrast, steps: int) -> Tensor:
    """Return upstream scores with gradients averaged over points of the line between embeddings.

    Args:
        contrast: Models, questions and counterfactual prompts.
        steps: Number of points.

    Returns:
        Scores, [n, T, layers, H + 1].
    """
    n, count, _ = contrast.partners.shape
    rows = torch.arange(n).repeat_interleave(count)
    queries = contrast.queries.select(rows)
    differences = site_differences(contrast, run(contrast.old, contrast.queries.tokens).layers)
    pair_differences = {site: values.flatten(0, 1) for site, values in differences.items()}
    batches = []
    for pairs in torch.arange(n * count).split(compute_batch_size(contrast)):
        batch_differences = {site: values[pairs] for site, values in pair_differences.items()}
        batches.append(_average_path(contrast, pairs, queries.select(pairs), batch_differences, steps))
    return average_over_partners(contrast, torch.cat(batches).unflatten(0, (n, count)))


def _average_path(contrast: Contrast, pairs: Tensor, queries: Queries, differences: Shifts, steps: int) -> Tensor:
    """Return path-averaged scores, [m, T, layers, H + 1], of pairs of a prompt and a counterfactual prompt."""
    total = torch.zeros(())
    for step in range(steps):
        share = (step + 0.5) / steps
        for p, sign in ((contrast.old, 1), (contrast.new, -1)):
            embedded = embed(p, contrast.queries.tokens)
            start = embedded[:, None] - subtract_partners(contrast, embedded)
            line = start + share * (embedded[:, None] - start)
            gradients = linearise(p, line.flatten(0, 1)[pairs], queries).gradients
            total = total + sign * _dot_by_component(differences, gradients) / steps
    return total


def compute_batch_size(contrast: Contrast) -> int:
    """Return the number of prompts of a batch with gradients."""
    width = contrast.old["token"].shape[1]
    values = STORED_VECTORS * width * contrast.queries.tokens.shape[1] * count_layers(contrast.old)
    return max(1, MAX_STORED_ACTIVATIONS // values)


def mask_prompts(queries: Queries) -> Tensor:
    """Return which tokens belong to prompts rather than padding, bool [n, T]."""
    return torch.arange(queries.tokens.shape[1]) <= queries.last[:, None]


def dot(a: Tensor, b: Tensor) -> Tensor:
    """Return dot products over the last axis.

    Args:
        a: Vectors, [..., k].
        b: Vectors, whose other axes broadcast with those of `a`.

    Returns:
        Products, float64 [...].
    """
    return (a.double() * b.double()).sum(-1)


def _dot_by_component(changes: Shifts, gradients: Shifts) -> Tensor:
    """Return dot products of changes of `context` and `mlp` with gradients, [..., layers, H + 1]."""
    products = []
    for number in range(1 + max(layer for layer, _ in changes)):
        heads, mlp = (dot(changes[number, name], gradients[number, name]) for name in ("context", "mlp"))
        products.append(torch.cat([heads, mlp[..., None]], -1))
    return torch.stack(products, -2)
