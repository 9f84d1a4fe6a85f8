"""A decoder in which the output of every matrix can be read and shifted at every token.

The letters in shapes are those of :mod:`.parameters`; B sentences have T tokens each.

The outputs of a layer's matrices are its sites: `query`, `key` and `value` [B, T, H, w], `context` (attention-weighted
mean of a head's values) [B, T, H, w], `write` (sum of all heads' outputs) [B, T, d], `hidden` (of an MLP, before the
activation) and `gate`, if there is one, [B, T, m], and `mlp` [B, T, d]. A key or value that several heads share is a
site of each of these heads. A run adds shifts to sites: the gradient of a zero shift is the gradient with respect to
the site's output; a shift by a difference of outputs replaces an output.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from heuristic_core.common.errors import InputError
from heuristic_core.experiments.extractive_structures.parameters import Parameters, count_layers

Site = tuple[int, str]  # layer, and the name of a matrix's output
Shifts = Mapping[Site, Tensor | Callable[[Tensor], Tensor]]  # a function maps the output to its replacement
LAYER_NORM_EPSILON = 1e-5  # of the LayerNorms
ACTIVATIONS = (F.gelu, F.silu, partial(F.gelu, approximate="tanh"))  # "fixed.activation" is an index


class Layer(NamedTuple):
    """Activations of one layer.

    Attributes:
        residual: Residual stream before the layer, [B, T, d].
        attention_input: Normalised input of attention, [B, T, d].
        context: Outputs of heads before the output matrix, [B, T, H, w].
        mlp_input: Normalised input of the MLP, [B, T, d].
        mlp_hidden: Input of the MLP's last matrix, [B, T, m].
        mlp: Output of the MLP, [B, T, d].
    """

    residual: Tensor
    attention_input: Tensor
    context: Tensor
    mlp_input: Tensor
    mlp_hidden: Tensor
    mlp: Tensor


class ForwardPass(NamedTuple):
    """Results of a forward pass.

    Attributes:
        logits: Logits at all tokens, [B, T, V].
        layers: Activations by layer, from the first layer that was run.
    """

    logits: Tensor
    layers: list[Layer]


def embed(p: Parameters, tokens: Tensor) -> Tensor:
    """Return the residual stream before the first layer, [B, T, d].

    Args:
        p: Parameters.
        tokens: Tokens, int64 [B, T].

    Raises:
        InputError: If a sentence is longer than the model's positions.
    """
    embedded = F.embedding(tokens, p["token"])
    if "fixed.scale" in p:
        embedded = embedded * p["fixed.scale"].to(embedded.dtype)
    if "position" not in p:
        return embedded
    positions = p["position"]
    if tokens.shape[1] > len(positions):
        raise InputError(f"model.positions = {len(positions)}: a sentence has {tokens.shape[1]} tokens; raise it")
    return embedded + positions[: tokens.shape[1]]


def run(p: Parameters, tokens: Tensor, shifts: Shifts | None = None) -> ForwardPass:
    """Run the model. Attention is causal, so padding after a sentence does not change its logits.

    Args:
        p: Parameters.
        tokens: Tokens, int64 [B, T].
        shifts: Shifts by layer and site, see the module.
    """
    return run_from(p, embed(p, tokens), shifts)


def run_from(p: Parameters, residual: Tensor, shifts: Shifts | None = None, first: int = 0) -> ForwardPass:
    """Run the model from the residual stream before a layer.

    Args:
        p: Parameters.
        residual: Residual stream before layer `first`, [B, T, d].
        shifts: Shifts by layer and site, see the module.
        first: Number of the first layer to run.
    """
    layers, shifts = [], shifts or {}
    for number in range(first, count_layers(p)):
        start, attended = residual, normalise(p, residual, f"{number}.before_attention")
        context = attend(p, number, attended, shifts)
        attention_output = _shift(context.flatten(2) @ p[f"{number}.output"].flatten(0, 1), number, "write", shifts)
        residual = residual + _normalise_output(p, attention_output, f"{number}.after_attention")
        seen = normalise(p, residual, f"{number}.before_mlp")
        active = activate(p, number, seen, shifts)
        mlp_output = _shift(active @ p[f"{number}.down"], number, "mlp", shifts)
        residual = residual + _normalise_output(p, mlp_output, f"{number}.after_mlp")
        layers.append(Layer(start, attended, context, seen, active, mlp_output))
    last = normalise(p, residual, "before_unembed")
    unembed = p["unembed"] if "unembed" in p else p["token"].mT
    return ForwardPass(_soft_cap(p, last @ unembed, "fixed.logit_cap"), layers)


def attend(p: Parameters, layer: int, attended: Tensor, shifts: Shifts | None = None) -> Tensor:
    """Return the contexts of a layer's heads, [B, T, H, w].

    Args:
        p: Parameters.
        layer: Number of the layer.
        attended: Normalised inputs of attention, [B, T, d].
        shifts: Shifts by layer and site, see the module; those of other sites have no effect.
    """
    shifts = shifts or {}
    query, key, value = (
        _clip(p, _shift(_project(p, layer, name, attended), layer, name, shifts)).transpose(1, 2)
        for name in ("query", "key", "value")
    )
    if "fixed.rotary" in p:
        query, key = (_rotate(p, heads) for heads in (query, key))
    scale = p["fixed.attention_scale"].to(query.dtype) if "fixed.attention_scale" in p else key.shape[-1] ** -0.5
    scores = _soft_cap(p, query @ key.mT * scale, "fixed.attention_cap")
    later = torch.full(scores.shape[-2:], -torch.inf, dtype=scores.dtype, device=scores.device).triu(1)
    context = torch.softmax(scores + later, -1) @ value
    return _shift(context.transpose(1, 2), layer, "context", shifts)


def _project(p: Parameters, layer: int, name: str, attended: Tensor) -> Tensor:
    """Return the queries, keys or values of every head, [B, T, H, w], for normalised inputs [B, T, d]."""
    outputs, heads = project_heads(attended, p[f"{layer}.{name}"]), p[f"{layer}.query"].shape[1]
    if (bias := p.get(f"{layer}.{name}_bias")) is not None:
        outputs = outputs + bias
    return repeat_heads(outputs, heads)


def repeat_heads(values: Tensor, heads: int) -> Tensor:
    """Repeat key or value heads for the query heads that share them.

    Args:
        values: Keys or values, [..., H', w].
        heads: Number of query heads H, a multiple of H'.

    Returns:
        Keys or values by query head, [..., H, w].
    """
    return values if values.shape[-2] == heads else values.repeat_interleave(heads // values.shape[-2], -2)


def apply_mlp(p: Parameters, layer: int, inputs: Tensor) -> Tensor:
    """Return the outputs of a layer's MLP, [B, T, d].

    Args:
        p: Parameters.
        layer: Number of the layer.
        inputs: Normalised inputs of the MLP, [B, T, d].
    """
    return activate(p, layer, inputs) @ p[f"{layer}.down"]


def activate(p: Parameters, layer: int, inputs: Tensor, shifts: Shifts | None = None) -> Tensor:
    """Return the inputs of the MLP's last matrix, [B, T, m].

    Args:
        p: Parameters.
        layer: Number of the layer.
        inputs: Normalised inputs of the MLP, [B, T, d].
        shifts: Shifts by layer and site, see the module; those of other sites have no effect.
    """
    shifts = shifts or {}
    nonlinearity = ACTIVATIONS[int(p["fixed.activation"])] if "fixed.activation" in p else F.gelu
    hidden = _shift(inputs @ p[f"{layer}.up"], layer, "hidden", shifts)
    if (gate := p.get(f"{layer}.gate")) is None:
        return nonlinearity(hidden)
    return nonlinearity(_shift(inputs @ gate, layer, "gate", shifts)) * hidden


def project_heads(rows: Tensor, matrix: Tensor) -> Tensor:
    """Multiply inputs by the matrix of every head.

    Args:
        rows: Inputs of the matrices, [B, T, d].
        matrix: Matrices of a layer's queries, keys or values, [d, H, w].

    Returns:
        Queries, keys or values, [B, T, H, w].
    """
    return (rows @ matrix.flatten(1)).unflatten(-1, matrix.shape[1:])


def site_shapes(p: Parameters, batch: int, tokens: int) -> dict[Site, tuple[int, ...]]:
    """Return the shape of every site's output.

    Args:
        p: Parameters.
        batch: Number of sentences B.
        tokens: Number of tokens of each sentence T.

    Returns:
        Shapes by layer and site, as in the module's description.
    """
    d, heads, width = p["0.query"].shape
    token_shapes = dict.fromkeys(("query", "key", "value", "context"), (heads, width))
    inner = p["0.up"].shape[1:]
    token_shapes |= {"write": (d,), "hidden": inner, "mlp": (d,)} | ({"gate": inner} if "0.gate" in p else {})
    return {
        (layer, name): (batch, tokens, *token_shapes[name]) for layer in range(count_layers(p)) for name in token_shapes
    }


def _shift(output: Tensor, layer: int, site: str, shifts: Shifts) -> Tensor:
    """Return the output of a site with its shift, if there is one."""
    shift = shifts.get((layer, site))
    if callable(shift):
        return shift(output)
    return output if shift is None else output + shift


def normalise(p: Parameters, x: Tensor, gain: str) -> Tensor:
    """Apply RMSNorm over the last axis if the model has the gain of that name, else LayerNorm without gain.

    Args:
        p: Parameters.
        x: Activations, [..., d].
        gain: Name of the gain, such as "before_unembed".
    """
    epsilon = float(p["fixed.epsilon"]) if "fixed.epsilon" in p else LAYER_NORM_EPSILON
    if gain not in p:
        return F.layer_norm(x, x.shape[-1:], eps=epsilon)
    return F.rms_norm(x, x.shape[-1:], p[gain], epsilon)


def _normalise_output(p: Parameters, x: Tensor, gain: str) -> Tensor:
    """Normalise the output of attention or of an MLP in models that have the gain of that name."""
    return normalise(p, x, gain) if gain in p else x


def _clip(p: Parameters, x: Tensor) -> Tensor:
    return x.clamp(-p["fixed.clip"], p["fixed.clip"]) if "fixed.clip" in p else x


def _soft_cap(p: Parameters, x: Tensor, cap: str) -> Tensor:
    return x if cap not in p else p[cap] * torch.tanh(x / p[cap])


def _rotate(p: Parameters, x: Tensor) -> Tensor:
    """Apply rotary position embeddings to queries or keys, [B, H, T, w].

    "fixed.rotary" has the angles of position 1, [w / 2].
    """
    angles = torch.arange(x.shape[2], dtype=torch.float32, device=x.device)[:, None] * p["fixed.rotary"].float()
    scale = p["fixed.rotary_scale"]
    cos, sin = ((values * scale).repeat(1, 2).to(x.dtype) for values in (angles.cos(), angles.sin()))
    first, second = x.chunk(2, -1)
    return x * cos + torch.cat([-second, first], -1) * sin
