"""A decoder whose every module can be read, and pushed, at every token.

Parameters are a dict of tensors. Names and shapes, with vocabulary V, width d and H heads of width w = d / H: token
[V, d], position [P, d], unembed [d, V]; of layer l "l.query", "l.key" and "l.value" [d, H, w], "l.output" [H, w, d],
"l.up" [d, m] and "l.down" [m, d]. A model that is taken from elsewhere (:mod:`.decoders`) has more, and what is there
says what the model does: "l.gate" [d, m], biases "l.query_bias" and so on [H, w], gains of RMSNorms before and after
attention and MLP [d] (without one: LayerNorm without gain), fewer heads of keys and values than of queries, and
constants, whose names begin with "fixed." and which no training changes.

The outputs of a layer's matrices are its sites: `query`, `key` and `value` [B, T, H, w], `context` (what a head's
attention gathers) [B, T, H, w], `write` (what all heads add to the residual stream) [B, T, d], `hidden` (of an MLP,
before the activation) and `gate`, where there is one, [B, T, m], and `mlp` [B, T, d]. A key or value that several heads
share is a site of each of these heads. A run adds given shifts to sites: where a shift is zero, its gradient is
the gradient in the site's output; where it is a difference of outputs, the run goes on with another output.
"""

import math
from collections.abc import Callable, Mapping
from functools import partial
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
EPSILON = 1e-5  # of the LayerNorms
FIXED = "fixed."  # what names of constants begin with
ACTIVATIONS = (F.gelu, F.silu, partial(F.gelu, approximate="tanh"))  # "fixed.activation" is the number of one
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
    found = F.embedding(tokens, p["token"])
    if "fixed.scale" in p:
        found = found * p["fixed.scale"].to(found.dtype)
    if "position" not in p:
        return found
    positions = p["position"]
    if tokens.shape[1] > len(positions):
        raise InputError(f"a sentence of {tokens.shape[1]} tokens, and model.positions = {len(positions)}: raise it")
    return found + positions[: tokens.shape[1]]


def run(p: Parameters, tokens: Tensor, shifts: Shifts | None = None) -> Pass:
    """A forward pass. tokens: int64 [B, T]; no token sees later ones, so that what follows a sentence does not
    matter."""
    return run_from(p, embed(p, tokens), shifts)


def run_from(p: Parameters, residual: Tensor, shifts: Shifts | None = None, first: int = 0) -> Pass:
    """A forward pass from the residual stream before layer `first`, [B, T, d]; shifts: by layer and site, see the
    module."""
    layers, shifts = [], shifts or {}
    for number in range(first, layers_of(p)):
        start, attended = residual, normalised(p, residual, f"{number}.before_attention")
        context = attention(p, number, attended, shifts)
        write = _at(context.flatten(2) @ p[f"{number}.output"].flatten(0, 1), number, "write", shifts)
        residual = residual + _afterwards(p, write, f"{number}.after_attention")
        seen = normalised(p, residual, f"{number}.before_mlp")
        active = activation(p, number, seen, shifts)
        mlp = _at(active @ p[f"{number}.down"], number, "mlp", shifts)
        residual = residual + _afterwards(p, mlp, f"{number}.after_mlp")
        layers.append(Layer(start, attended, context, seen, active, mlp))
    last = normalised(p, residual, "before_unembed")
    return Pass(_capped(p, last @ (p["unembed"] if "unembed" in p else p["token"].mT), "fixed.logit_cap"), layers)


def attention(p: Parameters, layer: int, attended: Tensor, shifts: Shifts | None = None) -> Tensor:
    """Contexts of a layer's heads, [B, T, H, w], for the normalised inputs [B, T, d]."""
    shifts = shifts or {}
    query, key, value = (
        _clipped(p, _at(projected(p, layer, name, attended), layer, name, shifts)).transpose(1, 2)
        for name in ("query", "key", "value")
    )
    if "fixed.rotary" in p:
        query, key = (_rotated(p, one) for one in (query, key))
    scale = p["fixed.attention_scale"].to(query.dtype) if "fixed.attention_scale" in p else key.shape[-1] ** -0.5
    scores = _capped(p, query @ key.mT * scale, "fixed.attention_cap")
    later = torch.full(scores.shape[-2:], -torch.inf, dtype=scores.dtype, device=scores.device).triu(1)
    context = torch.softmax(scores + later, -1) @ value
    return _at(context.transpose(1, 2), layer, "context", shifts)


def projected(p: Parameters, layer: int, name: str, attended: Tensor) -> Tensor:
    """Queries, keys or values of every head, [B, T, H, w], for the normalised inputs [B, T, d]."""
    found, heads = through(attended, p[f"{layer}.{name}"]), p[f"{layer}.query"].shape[1]
    if (bias := p.get(f"{layer}.{name}_bias")) is not None:
        found = found + bias
    return each_head(found, heads)


def each_head(found: Tensor, heads: int) -> Tensor:
    """Heads of keys or values, [..., H', w], for each of the heads that use them, [..., H, w]."""
    return found if found.shape[-2] == heads else found.repeat_interleave(heads // found.shape[-2], -2)


def mlp(p: Parameters, layer: int, seen: Tensor) -> Tensor:
    """Outputs of a layer's MLP, [B, T, d], for its normalised inputs."""
    return activation(p, layer, seen) @ p[f"{layer}.down"]


def activation(p: Parameters, layer: int, seen: Tensor, shifts: Shifts | None = None) -> Tensor:
    """What a layer's last matrix of the MLP sees, [B, T, m], for the MLP's normalised inputs."""
    shifts = shifts or {}
    bend = ACTIVATIONS[int(p["fixed.activation"])] if "fixed.activation" in p else F.gelu
    hidden = _at(seen @ p[f"{layer}.up"], layer, "hidden", shifts)
    if (gate := p.get(f"{layer}.gate")) is None:
        return bend(hidden)
    return bend(_at(seen @ gate, layer, "gate", shifts)) * hidden


def through(rows: Tensor, matrix: Tensor) -> Tensor:
    """Rows [B, T, d] through the matrix of every head, [d, H, w]: [B, T, H, w]."""
    return (rows @ matrix.flatten(1)).unflatten(-1, matrix.shape[1:])


def site_shapes(p: Parameters, batch: int, tokens: int) -> dict[Site, tuple[int, ...]]:
    """The shape of every site's output."""
    d, heads, width = p["0.query"].shape
    rows = dict.fromkeys(("query", "key", "value", "context"), (heads, width))
    inner = p["0.up"].shape[1:]
    rows |= {"write": (d,), "hidden": inner, "mlp": (d,)} | ({"gate": inner} if "0.gate" in p else {})
    return {(layer, name): (batch, tokens, *rows[name]) for layer in range(layers_of(p)) for name in rows}


def _at(output: Tensor, layer: int, site: str, shifts: Shifts) -> Tensor:
    shift = shifts.get((layer, site))
    if callable(shift):
        return shift(output)
    return output if shift is None else output + shift


def normalised(p: Parameters, x: Tensor, gain: str) -> Tensor:
    """RMSNorm, [..., d], with the gain of that name where the model has it, else LayerNorm without one."""
    epsilon = float(p["fixed.epsilon"]) if "fixed.epsilon" in p else EPSILON
    if gain not in p:
        return F.layer_norm(x, x.shape[-1:], eps=epsilon)
    return F.rms_norm(x, x.shape[-1:], p[gain], epsilon)


def _afterwards(p: Parameters, x: Tensor, gain: str) -> Tensor:
    """What a component adds to the residual stream: some models normalise it first."""
    return normalised(p, x, gain) if gain in p else x


def _clipped(p: Parameters, x: Tensor) -> Tensor:
    return x.clamp(-p["fixed.clip"], p["fixed.clip"]) if "fixed.clip" in p else x


def _capped(p: Parameters, x: Tensor, cap: str) -> Tensor:
    return x if cap not in p else p[cap] * torch.tanh(x / p[cap])


def _rotated(p: Parameters, x: Tensor) -> Tensor:
    """Queries or keys, [B, H, T, w], turned by their position; "fixed.rotary": angles of position 1, [w / 2]."""
    angles = torch.arange(x.shape[2], dtype=torch.float32, device=x.device)[:, None] * p["fixed.rotary"].float()
    scale = p["fixed.rotary_scale"]
    cos, sin = ((one * scale).repeat(1, 2).to(x.dtype) for one in (angles.cos(), angles.sin()))
    first, second = x.chunk(2, -1)
    return x * cos + torch.cat([-second, first], -1) * sin
