"""The weights of one block of `fused`'s forward pass: read from a checkpoint, and cut down to some of its heads."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from heuristic_core.models.fused_families import FusedFamily
from heuristic_core.models.linear import Linear

Map = tuple[Tensor, Tensor | None]  # weight and bias


@dataclass(frozen=True)
class Layer:
    """One block. queries_keys_values: [3 H dh, d] and [3 H dh]; output: [d, H dh] and [d]; up: [f, d]; down: [d, f].

    queries, keys_values: the same map in two, for where queries are wanted of the classified row alone. heads: how many
    are left (0: `output` is its bias alone). A removed MLP has no `up`, and `down` is its bias alone.
    """

    heads: int
    queries_keys_values: Linear
    queries: Linear
    keys_values: Linear
    output: Linear
    attention_norm: Map
    up: Linear | None
    down: Linear
    mlp_norm: Map


def read_layer(family: FusedFamily, weights: Mapping[str, Tensor], number: int, heads: int) -> Layer:
    """Layer `number` of a checkpoint, with all of its `heads`."""

    def linear(name: str) -> Linear:
        weight = weights[f"{name.format(number)}.weight"]
        return Linear(weight.T if family.decoder else weight, weights[f"{name.format(number)}.bias"])

    def norm(name: str) -> Map:
        return weights[f"{name.format(number)}.weight"], weights[f"{name.format(number)}.bias"]

    first, *others = parts = [linear(name) for name in family.queries_keys_values]
    if others:
        first = Linear(torch.cat([part.weight for part in parts]), torch.cat([part.bias for part in parts]))
    return Layer(
        heads,
        *_projections(first),
        linear(family.attention_output),
        norm(family.attention_norm),
        linear(family.up),
        linear(family.down),
        norm(family.mlp_norm),
    )


def without_heads(layer: Layer, kept: Sequence[int], means: Tensor) -> Layer:
    """`layer` with the heads `kept`; the others put out `means` [H, dh]."""
    projections, output, count = layer.queries_keys_values, layer.output, len(means)
    by_head = output.weight.unflatten(1, (count, -1))  # [d, H, dh]
    index, constant = torch.tensor(kept, dtype=torch.long, device=by_head.device), means.clone()
    constant[index] = 0
    both, queries, keys_values = _projections(
        Linear(
            projections.weight.unflatten(0, (3, count, -1)).index_select(1, index).flatten(0, 2),
            projections.bias.unflatten(0, (3, count, -1)).index_select(1, index).flatten(),
        )
    )
    return replace(
        layer,
        heads=len(kept),
        queries_keys_values=both,
        queries=queries,
        keys_values=keys_values,
        output=Linear(
            by_head.index_select(1, index).flatten(1),
            torch.addmv(output.bias, output.weight, constant.flatten()),
        ),
    )


def _projections(joined: Linear) -> tuple[Linear, Linear, Linear]:
    """A map to queries, keys and values: itself, to queries alone, to keys and values. Nothing is copied."""
    size = len(joined.bias) // 3
    return joined, joined.rows(0, size), joined.rows(size)
