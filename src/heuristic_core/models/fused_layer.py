"""The weights of one block of `fused`'s forward pass: read from a checkpoint, and cut down to some of its heads."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from heuristic_core.models.fused_families import FusedFamily

Map = tuple[Tensor, Tensor | None]  # weight and bias, of a linear map or a norm


@dataclass(frozen=True)
class Layer:
    """One block. queries_keys_values: [3 H dh, d] and [3 H dh]; output: [d, H dh] and [d]; up: [f, d]; down: [d, f].

    heads: how many are left (0: `output` is its bias alone). A removed MLP has no `up`, and `down` is its bias alone.
    """

    heads: int
    queries_keys_values: Map
    output: Map
    attention_norm: Map
    up: Map | None
    down: Map
    mlp_norm: Map


def read_layer(family: FusedFamily, weights: Mapping[str, Tensor], number: int, heads: int) -> Layer:
    """Layer `number` of a checkpoint, with all of its `heads`."""

    def linear(name: str) -> Map:
        weight = weights[f"{name.format(number)}.weight"]
        return weight.T if family.decoder else weight, weights[f"{name.format(number)}.bias"]

    def norm(name: str) -> Map:
        return weights[f"{name.format(number)}.weight"], weights[f"{name.format(number)}.bias"]

    parts = [linear(name) for name in family.queries_keys_values]
    joined = parts[0] if len(parts) == 1 else (torch.cat([w for w, _ in parts]), torch.cat([b for _, b in parts]))
    return Layer(
        heads,
        joined,
        linear(family.attention_output),
        norm(family.attention_norm),
        linear(family.up),
        linear(family.down),
        norm(family.mlp_norm),
    )


def without_heads(layer: Layer, kept: Sequence[int], means: Tensor) -> Layer:
    """`layer` with the heads `kept`; the others put out `means` [H, dh]."""
    (weight, bias), (out, out_bias), count = layer.queries_keys_values, layer.output, len(means)
    by_head = out.unflatten(1, (count, -1))  # [d, H, dh]
    index, constant = torch.tensor(kept, dtype=torch.long, device=out.device), means.clone()
    constant[index] = 0
    return replace(
        layer,
        heads=len(kept),
        queries_keys_values=(
            weight.unflatten(0, (3, count, -1)).index_select(1, index).flatten(0, 2),
            bias.unflatten(0, (3, count, -1)).index_select(1, index).flatten(),
        ),
        output=(by_head.index_select(1, index).flatten(1), torch.addmv(out_bias, out, constant.flatten())),
    )
