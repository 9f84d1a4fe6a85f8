"""Weights of one block of `fused`'s forward pass: read from a checkpoint, and reduced to a subset of heads."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from heuristic_core.models.fused_families import FusedFamily
from heuristic_core.models.linear import Linear

WeightAndBias = tuple[Tensor, Tensor | None]  # weight and bias


@dataclass(frozen=True)
class Layer:
    """Weights of one block.

    Attributes:
        heads: Number of heads that are left; with 0, only the bias of `output` is used.
        queries_keys_values: [3 H dh, d].
        queries: The rows of queries, [H dh, d], for a pass that needs queries at the classified position only.
        keys_values: The other rows, [2 H dh, d].
        output: [d, H dh].
        attention_norm: Scale and shift, [d] each.
        up: [f, d]; None if the MLP is removed.
        down: [d, f]; of a removed MLP, only the bias is used.
        mlp_norm: Scale and shift, [d] each.
    """

    heads: int
    queries_keys_values: Linear
    queries: Linear
    keys_values: Linear
    output: Linear
    attention_norm: WeightAndBias
    up: Linear | None
    down: Linear
    mlp_norm: WeightAndBias


def read_layer(family: FusedFamily, weights: Mapping[str, Tensor], number: int, heads: int) -> Layer:
    """Read one layer of a checkpoint, with all of its heads.

    Args:
        family: Names of the weights.
        weights: All weights of the checkpoint, by name.
        number: Number of the layer.
        heads: Number of its heads, H.
    """

    def linear(name: str) -> Linear:
        weight = weights[f"{name.format(number)}.weight"]
        return Linear(weight.T if family.decoder else weight, weights[f"{name.format(number)}.bias"])

    def norm(name: str) -> WeightAndBias:
        return weights[f"{name.format(number)}.weight"], weights[f"{name.format(number)}.bias"]

    joined, *others = parts = [linear(name) for name in family.queries_keys_values]
    if others:
        joined = Linear(torch.cat([part.weight for part in parts]), torch.cat([part.bias for part in parts]))
    return Layer(
        heads,
        *_projections(joined),
        linear(family.attention_output),
        norm(family.attention_norm),
        linear(family.up),
        linear(family.down),
        norm(family.mlp_norm),
    )


def remove_heads(layer: Layer, kept: Sequence[int], means: Tensor) -> Layer:
    """Return a layer without some heads, with constants in their place.

    Args:
        layer: Layer with all of its heads.
        kept: Numbers of the heads that are kept.
        means: Constant output of each head if removed, [H, dh].
    """
    projections, output, count = layer.queries_keys_values, layer.output, len(means)
    by_head = output.weight.unflatten(1, (count, -1))  # [d, H, dh]
    index, constant = torch.tensor(kept, dtype=torch.long, device=by_head.device), means.clone()
    constant[index] = 0
    joined, queries, keys_values = _projections(
        Linear(
            projections.weight.unflatten(0, (3, count, -1)).index_select(1, index).flatten(0, 2),
            projections.bias.unflatten(0, (3, count, -1)).index_select(1, index).flatten(),
        )
    )
    return replace(
        layer,
        heads=len(kept),
        queries_keys_values=joined,
        queries=queries,
        keys_values=keys_values,
        output=Linear(
            by_head.index_select(1, index).flatten(1),
            torch.addmv(output.bias, output.weight, constant.flatten()),
        ),
    )


def _projections(joined: Linear) -> tuple[Linear, Linear, Linear]:
    """Return a map to queries, keys and values, its rows of queries, and its rows of keys and values, as views."""
    size = len(joined.bias) // 3
    return joined, joined.rows(0, size), joined.rows(size)
