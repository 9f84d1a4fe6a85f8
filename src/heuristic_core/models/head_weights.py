"""Weights of single heads in a layer of a Hugging Face model."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from heuristic_core.common.errors import InputError
from heuristic_core.models.families import Family, get_family, input_width

if TYPE_CHECKING:
    from transformers import PreTrainedModel


def weight_matrix(module: nn.Module) -> Tensor:
    """Return a view of a linear map's weight as [out, in]; GPT-2's ``Conv1D`` stores [in, out]."""
    return module.weight.data if isinstance(module, nn.Linear) else module.weight.data.T


def head_rows(heads: Sequence[int], size: int) -> Tensor:
    """Return the positions of heads of `size` numbers each, in the order of `heads`, int64 [heads * size]."""
    return (torch.tensor(heads)[:, None] * size + torch.arange(size)).flatten()


def projection_rows(family: Family, module: nn.Module, chosen: Sequence[int], heads: int, size: int) -> Tensor:
    """Return the output rows of a projection that belong to the heads `chosen`.

    Args:
        family: The model's family.
        module: The projection.
        chosen: Numbers of heads.
        heads: Number of heads of the layer.
        size: Size of a head.
    """
    if family.order == "interleaved":
        return head_rows(chosen, 3 * size)
    if family.order == "stacked":
        return torch.cat([part * heads * size + head_rows(chosen, size) for part in range(3)])
    # Query heads for each head of this map: 1 unless they share keys and values.
    group_size = heads * size // len(weight_matrix(module))
    return head_rows([head // group_size for head in chosen], size)


@torch.no_grad()
def copy_heads(model: "PreTrainedModel", sources: Sequence[int]) -> None:
    """Replace every head of each layer by a copy of head ``sources[head]`` of the same layer, in place.

    Args:
        model: A ``PreTrainedModel`` for sequence classification.
        sources: Numbers of heads, one for each head of a layer.

    Raises:
        InputError: Heads of the model share keys and values, or its layers share weights.
    """
    family, heads, model_type = get_family(model.config.model_type), len(sources), model.config.model_type
    layers = family.layers(model)
    if len({id(layer) for layer in layers}) < len(layers):
        raise InputError(f"model_type = {model_type!r}: heads of layers that share weights cannot be copied")
    for layer in layers:
        output, modules = layer.get_submodule(family.output), dict(layer.named_modules())
        size = input_width(output) // heads
        for projection in (modules[path] for path in family.projections if path in modules):
            rows, weights = projection_rows(family, projection, sources, heads, size), weight_matrix(projection)
            if len(rows) != len(weights):
                raise InputError(f"model_type = {model_type!r}: heads that share keys cannot be copied")
            weights.copy_(weights[rows])
            if projection.bias is not None:
                projection.bias.copy_(projection.bias[rows])
        weight_matrix(output).copy_(weight_matrix(output)[:, head_rows(sources, size)])
