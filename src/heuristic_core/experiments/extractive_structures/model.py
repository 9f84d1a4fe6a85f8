"""A decoder whose every module can be read, and pushed, at every token.

Parameters are a dict of tensors. Names and shapes, with vocabulary V, width d and H heads of width w = d / H: token
[V, d], position [P, d], unembed [d, V]; of layer l "l.query", "l.key" and "l.value" [d, H, w], "l.output" [H, w, d],
"l.up" [d, 4 d] and "l.down" [4 d, d]. LayerNorms have neither gains nor biases, and nothing else has biases.

The outputs of a layer's matrices are its sites: `query`, `key` and `value` [B, T, H, w], `context` (what a head's
attention gathers) [B, T, H, w], `write` (what all heads add to the residual stream) [B, T, d], `hidden` (of an MLP,
before GELU) [B, T, 4 d] and `mlp` [B, T, d]. A run adds given shifts to sites: where a shift is zero, its gradient is
the gradient in the site's output; where it is a difference of outputs, the run goes on with another output.
"""

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from heuristic_core.common.errors import InputError
from heuristic_core.common.seeds import torch_generator
from heuristic_core.experiments.extractive_structures.config import Model

Parameters = Mapping[str, Tensor]
Site = tuple[int, str]  # layer, and the name of a matrix's output
Shifts = Mapping[Site, Tensor | Callable[[Tensor], Tensor]]  # a function gives what takes the output's place
SITES = ("query", "key", "value", "context", "write", "hidden", "mlp")
EPSILON = 1e-5  # of the LayerNorms
STD = 0.02  # of first weights


class Layer(NamedTuple):
    """What a layer begins with, what its matrices see, and what its components give.

    residual: before the layer, [B, T, d].
    attended, seen: the normalised input of attention and of the MLP, [B, T, d]. context: [B, T, H, w]. active: after
    GELU, [B, T, 4 d]. mlp: [B, T, d].
    """

    residual: Tensor
    attended: Tensor
    context: Tensor
    seen: Tensor
    active: Tensor
    mlp: Tensor


class Pass(NamedTuple):
    """logits: [B, T, V]."""

    logits: Tensor
    layers: list[Layer]


def shapes(model: Model, vocabulary: int) -> dict[str, tuple[int, ...]]:
    """The shape of every parameter, by name."""
    d, h = model.width, model.heads
    found = {"token": (vocabulary, d), "position": (model.positions, d)}
    for layer in range(model.layers):
        found |= {f"{layer}.{name}": (d, h, d // h) for name in ("query", "key", "value")}
        found |= {f"{layer}.output": (h, d // h, d), f"{layer}.up": (d, 4 * d), f"{layer}.down": (4 * d, d)}
    return found | {"unembed": (d, vocabulary)}


def initial(model: Model, vocabulary: int, seed: int) -> dict[str, Tensor]:
    """First weights: normal; matrices that write to the residual stream are smaller by the root of how many do."""
    writers = math.sqrt(2 * model.layers)
    return {
        name: torch.normal(
            0.0,
            STD / writers if name.endswith((".output", ".down")) else STD,
            shape,
            generator=torch_generator(f"extractive {name}", seed),
        )
        for name, shape in shapes(model, vocabulary).items()
    }


def layers_of(p: Parameters) -> int:
    """How many layers there are."""
    return sum(name.endswith(".up") for name in p)


def embed(p: Parameters, tokens: Tensor) -> Tensor:
    """The residual stream before the first layer, [B, T, d]. tokens: int64 [B, T].

    Raises InputError on a sentence that is longer than the model's positions.
    """
    positions = p["position"]
    if tokens.shape[1] > len(positions):
        raise InputError(f"a sentence of {tokens.shape[1]} tokens, and model.positions = {len(positions)}: raise it")
    return F.embedding(tokens, p["token"]) + positions[: tokens.shape[1]]


def run(p: Parameters, tokens: Tensor, shifts: Shifts | None = None) -> Pass:
    """A forward pass. tokens: int64 [B, T]; no token sees later ones, so that what follows a sentence does not
    matter."""
    return run_from(p, embed(p, tokens), shifts)


def run_from(p: Parameters, residual: Tensor, shifts: Shifts | None = None, first: int = 0) -> Pass:
    """A forward pass from the residual stream before layer `first`, [B, T, d]; shifts: by layer and site, see the
    module."""
    layers, shifts = [], shifts or {}
    for number in range(first, layers_of(p)):
        start, attended = residual, _normalised(residual)
        context = attention(p, number, attended, shifts)
        residual = residual + _at(context.flatten(2) @ p[f"{number}.output"].flatten(0, 1), number, "write", shifts)
        seen = _normalised(residual)
        active = F.gelu(_at(seen @ p[f"{number}.up"], number, "hidden", shifts))
        mlp = _at(active @ p[f"{number}.down"], number, "mlp", shifts)
        residual = residual + mlp
        layers.append(Layer(start, attended, context, seen, active, mlp))
    return Pass(_normalised(residual) @ p["unembed"], layers)


def attention(p: Parameters, layer: int, attended: Tensor, shifts: Shifts | None = None) -> Tensor:
    """Contexts of a layer's heads, [B, T, H, w], for the normalised inputs [B, T, d]."""
    shifts = shifts or {}
    query, key, value = (
        _at(through(attended, p[f"{layer}.{name}"]), layer, name, shifts).transpose(1, 2)
        for name in ("query", "key", "value")
    )
    scores = query @ key.mT * key.shape[-1] ** -0.5
    later = torch.full(scores.shape[-2:], -torch.inf, dtype=scores.dtype).triu(1)
    context = torch.softmax(scores + later, -1) @ value
    return _at(context.transpose(1, 2), layer, "context", shifts)


def mlp(p: Parameters, layer: int, seen: Tensor) -> Tensor:
    """Outputs of a layer's MLP, [B, T, d], for its normalised inputs."""
    return F.gelu(seen @ p[f"{layer}.up"]) @ p[f"{layer}.down"]


def through(rows: Tensor, matrix: Tensor) -> Tensor:
    """Rows [B, T, d] through the matrix of every head, [d, H, w]: [B, T, H, w]."""
    return (rows @ matrix.flatten(1)).unflatten(-1, matrix.shape[1:])


def site_shapes(p: Parameters, batch: int, tokens: int) -> dict[Site, tuple[int, ...]]:
    """The shape of every site's output."""
    d, heads, width = p["0.query"].shape
    rows = dict.fromkeys(("query", "key", "value", "context"), (heads, width))
    rows |= {"write": (d,), "hidden": (4 * d,), "mlp": (d,)}
    return {(layer, name): (batch, tokens, *rows[name]) for layer in range(layers_of(p)) for name in SITES}


def _at(output: Tensor, layer: int, site: str, shifts: Shifts) -> Tensor:
    shift = shifts.get((layer, site))
    if callable(shift):
        return shift(output)
    return output if shift is None else output + shift


def _normalised(x: Tensor) -> Tensor:
    return F.layer_norm(x, x.shape[-1:], eps=EPSILON)
