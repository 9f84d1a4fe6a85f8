"""Extractive scores: how much a component at a token adds, to first order, to what a fine-tuned model answers.

W is the model before facts were taught and W' the model after; R is the loss of :func:`.answers.losses`, and g its
gradient in a component's output (a head's context, an MLP's output). With x the input of a component in a run of W and
x' in a run of W':

- informative: - sum over the component's matrices of (dW input) . g_W, g_W being the gradient in the matrix's output:
  the component has learned the fact;
- downstream: (out_W(x) - out_W(x')) . g_W: the component as it was makes something of what others have learned;
- upstream: (g_W - g_W') . (out_W - out_W on a counterfactual prompt): what the component always gave now counts.

All are as in the authors' code, per token and question, and positive where R falls. `upstream_path` is this project's
own: the gradients are means along a line of embeddings from the counterfactual prompt to the prompt, so that the
saturation of R at a stored fact does not hide what counts. Scores take one forward and one backward pass of each model
for each prompt.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from heuristic_core.common.seeds import torch_generator
from heuristic_core.experiments.extractive_structures.answers import losses
from heuristic_core.experiments.extractive_structures.config import LARGEST
from heuristic_core.experiments.extractive_structures.model import (
    Layer,
    Parameters,
    Shifts,
    Site,
    attention,
    each_head,
    embed,
    layers_of,
    mlp,
    run,
    run_from,
    site_shapes,
    through,
)
from heuristic_core.experiments.extractive_structures.tokens import Asked, aligned

KINDS = ("informative", "downstream", "upstream", "upstream_path")
HELD = 80  # numbers of the residual stream's width that a run with gradients holds for each token and layer, measured


class Contrast(NamedTuple):
    """Two models, the questions on which they are compared, and counterfactual prompts.

    old, new: W and W'. others: which prompts are counterfactual to each, int64 [n, K]. partners: of every token its
    partner in these, int64 [n, K, T]; -1 where it has none.
    """

    old: Parameters
    new: Parameters
    asked: Asked
    others: Tensor
    partners: Tensor


class Linear(NamedTuple):
    """A run, and the gradient of every question's R in every site's output."""

    layers: list[Layer]
    gradients: dict[Site, Tensor]


def contrast(old: Parameters, new: Parameters, asked: Asked, count: int, seed: int) -> Contrast:
    """With `count` of the other prompts as counterfactual ones, drawn for each prompt without replacement."""
    n, generator = len(asked.last), torch_generator("extractive counterfactuals", seed)
    drawn = [torch.randperm(n - 1, generator=generator, device="cpu")[:count] for _ in range(n)]
    others = torch.stack([one + (one >= k) for k, one in enumerate(drawn)]).to(asked.last.device)
    prompts = [row[: last + 1].tolist() for row, last in zip(asked.tokens, asked.last, strict=True)]
    partners = torch.full((n, count, asked.tokens.shape[1]), -1)
    for k, row in enumerate(others.tolist()):
        for j, other in enumerate(row):
            partners[k, j, : len(prompts[k])] = torch.tensor(aligned(prompts[k], prompts[other]))
    return Contrast(old, new, asked, others, partners)


def scores(of: Contrast, path_steps: int) -> dict[str, Tensor]:
    """Every kind of score, [n, T, layers, H + 1]: of heads, and last of the MLP; NaN beyond a prompt's end, and of
    upstream scores where a token has no partner in any counterfactual prompt."""
    return first_order(of) | {"upstream_path": known(of, "upstream_path", path_averaged(of, path_steps))}


def first_order(of: Contrast) -> dict[str, Tensor]:
    """The paper's three kinds, as :func:`scores`."""
    old, new = (linearised(p, embed(p, of.asked.tokens), of.asked) for p in (of.old, of.new))
    found = {
        "informative": informative(of.old, of.new, old),
        "downstream": downstream(of.old, old, new.layers),
        "upstream": upstream(old, new, counterfactual_differences(of, old.layers)),
    }
    return {kind: known(of, kind, value) for kind, value in found.items()}


def known(of: Contrast, kind: str, values: Tensor) -> Tensor:
    """`values`, [n, T, layers, H + 1], of a kind, NaN where they mean nothing."""
    partnered = (of.partners >= 0).any(1)  # within prompts alone
    there = partnered if kind.startswith("upstream") else inside(of.asked)
    return values.masked_fill(~there[..., None, None], torch.nan)


def linearised(p: Parameters, residual: Tensor, asked: Asked) -> Linear:
    """A run from `residual`, [n, T, d], with gradients."""
    shifts = {
        site: torch.zeros(shape, dtype=residual.dtype, requires_grad=True)
        for site, shape in site_shapes(p, *residual.shape[:2]).items()
    }
    found = run_from(p, residual, shifts)
    gradients = torch.autograd.grad(losses(found.logits, asked).sum(), list(shifts.values()))
    layers = [Layer(*(value.detach() for value in layer)) for layer in found.layers]
    return Linear(layers, dict(zip(shifts, gradients, strict=True)))


def informative(old: Parameters, new: Parameters, at: Linear) -> Tensor:
    """[n, T, layers, H + 1]. at: the run of the old model."""
    found = []
    for number, layer in enumerate(at.layers):
        learned = learned_outputs(old, new, number, layer)
        heads = sum(dot(learned[name], at.gradients[number, name]) for name in ("query", "key", "value"))
        heads = heads + dot(learned["write"], at.gradients[number, "write"][:, :, None])
        inner = sum(
            dot(learned[name], at.gradients[number, name]) for name in ("gate", "hidden", "mlp") if name in learned
        )
        found.append(-torch.cat([heads, inner[..., None]], -1))
    return torch.stack(found, 2)


def learned_outputs(old: Parameters, new: Parameters, number: int, layer: Layer) -> dict[str, Tensor]:
    """What changes of the matrices of a layer, and of their biases, alone, add to their outputs; `write` by head,
    [n, T, H, d]. Keys and values that heads share are of each of these heads."""

    def change(name: str) -> Tensor | float:
        return new[f"{number}.{name}"] - old[f"{number}.{name}"] if f"{number}.{name}" in old else 0.0

    heads = layer.context.shape[2]
    found = {
        name: each_head(through(layer.attended, change(name)) + change(f"{name}_bias"), heads)
        for name in ("query", "key", "value")
    }
    found["write"] = (layer.context[..., None, :] @ change("output")).squeeze(-2)
    if f"{number}.gate" in old:
        found["gate"] = layer.seen @ change("gate")
    return found | {"hidden": layer.seen @ change("up"), "mlp": layer.active @ change("down")}


def downstream(old: Parameters, at: Linear, new: Sequence[Layer]) -> Tensor:
    """[n, T, layers, H + 1]. at: the run of the old model; new: layers of the run of the new one."""
    moved = moved_outputs(old, at.layers, new)
    return -_by_component(moved, at.gradients)


def moved_outputs(old: Parameters, layers: Sequence[Layer], new: Sequence[Layer]) -> Shifts:
    """What the old components' outputs change by where their inputs come from the new model's run."""
    found = {}
    for number, (before, after) in enumerate(zip(layers, new, strict=True)):
        found[number, "context"] = attention(old, number, after.attended) - before.context
        found[number, "mlp"] = mlp(old, number, after.seen) - before.mlp
    return found


def upstream(old: Linear, new: Linear, differences: Shifts) -> Tensor:
    """[n, T, layers, H + 1]. differences: as :func:`counterfactual_differences`."""
    return _by_component(differences, {site: old.gradients[site] - new.gradients[site] for site in differences})


def counterfactual_differences(of: Contrast, layers: Sequence[Layer]) -> Shifts:
    """Outputs of the old model less these on counterfactual prompts, mean over the prompts in which a token has a
    partner; 0 where it has none."""
    return {site: over_partners(of, each) for site, each in _each_difference(of, layers).items()}


def path_averaged(of: Contrast, steps: int) -> Tensor:
    """Upstream scores with gradients that are means over `steps` points of the line between embeddings."""
    n, count, _ = of.partners.shape
    rows = torch.arange(n).repeat_interleave(count)
    asked = of.asked.of(rows)
    differences = _each_difference(of, run(of.old, of.asked.tokens).layers)
    each = {site: value.flatten(0, 1) for site, value in differences.items()}
    found = []
    for some in torch.arange(n * count).split(rows_at_once(of)):
        own = {site: value[some] for site, value in each.items()}
        found.append(_averaged(of, some, asked.of(some), own, steps))
    return over_partners(of, torch.cat(found).unflatten(0, (n, count)))


def _averaged(of: Contrast, some: Tensor, asked: Asked, differences: Shifts, steps: int) -> Tensor:
    """The same, [m, T, layers, H + 1], of some pairs of a prompt and a counterfactual one. asked: their questions."""
    total = torch.zeros(())
    for step in range(steps):
        share = (step + 0.5) / steps
        for p, sign in ((of.old, 1), (of.new, -1)):
            embedded = embed(p, of.asked.tokens)
            start = embedded[:, None] - _difference(of, embedded)
            line = start + share * (embedded[:, None] - start)
            gradients = linearised(p, line.flatten(0, 1)[some], asked).gradients
            total = total + sign * _by_component(differences, gradients) / steps
    return total


def rows_at_once(of: Contrast) -> int:
    """How many prompts go through a model together, with gradients."""
    width = of.old["token"].shape[1]
    return max(1, LARGEST // (HELD * width * of.asked.tokens.shape[1] * layers_of(of.old)))


def inside(asked: Asked) -> Tensor:
    """Whether a token belongs to its prompt, bool [n, T]."""
    return torch.arange(asked.tokens.shape[1]) <= asked.last[:, None]


def dot(a: Tensor, b: Tensor) -> Tensor:
    """Sums of products over the last axis, in float64."""
    return (a.double() * b.double()).sum(-1)


def _by_component(outputs: Shifts, gradients: Shifts) -> Tensor:
    """[..., layers, H + 1]: products of changes of `context` and `mlp` with gradients."""
    found = []
    for number in range(1 + max(layer for layer, _ in outputs)):
        heads, inner = (dot(outputs[number, name], gradients[number, name]) for name in ("context", "mlp"))
        found.append(torch.cat([heads, inner[..., None]], -1))
    return torch.stack(found, -2)


def _each_difference(of: Contrast, layers: Sequence[Layer]) -> dict[Site, Tensor]:
    """Of `context` and `mlp`, for every counterfactual prompt: [n, K, T, ...]."""
    return {
        (number, name): _difference(of, getattr(layer, name))
        for number, layer in enumerate(layers)
        for name in ("context", "mlp")
    }


def _difference(of: Contrast, output: Tensor) -> Tensor:
    """`output`, [n, T, ...], less that of partners, [n, K, T, ...]; 0 without a partner."""
    theirs = output[of.others[..., None], of.partners.clamp(min=0)]
    there = (of.partners >= 0).view(*of.partners.shape, *[1] * (output.dim() - 2))
    return torch.where(there, output[:, None] - theirs, torch.zeros((), dtype=output.dtype))


def over_partners(of: Contrast, values: Tensor) -> Tensor:
    """The mean over counterfactual prompts, [n, T, ...], of `values`, [n, K, T, ...], which are 0 without a partner."""
    count = (of.partners >= 0).sum(1).clamp(min=1)
    return values.sum(1) / count.view(*count.shape, *[1] * (values.dim() - 3))
