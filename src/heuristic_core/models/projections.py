"""Queries, keys and values in Hugging Face's modules, head by head: which maps give them, and edits there."""

from collections.abc import Callable, Iterator, Sequence

import torch
from torch import Tensor, nn

from heuristic_core.common.errors import InputError
from heuristic_core.models.families import Family
from heuristic_core.models.model import PROJECTIONS, Edit

Hook = Callable[[nn.Module, tuple, Tensor], Tensor]
SPLIT = {
    "stacked": (-3, lambda heads, size: (3, heads, size)),
    "interleaved": (-2, lambda heads, size: (heads, 3, size)),
}


def projection_hooks(
    family: Family, config, layers: Sequence[nn.Module], heads: int, size: int
) -> Iterator[tuple[nn.Module, Callable[[Edit], Hook]]]:
    """Every map of `layers` that gives queries, keys or values, with what makes an edit a forward hook of it.

    heads, size: of each layer. A map that is applied again counts the next layer. Raises InputError, which names the
    family, where heads share keys and values, or the maps give positions besides.
    """
    shared = getattr(config, "num_key_value_heads", None) not in (None, heads)
    if shared or len(family.projections) > len(PROJECTIONS):
        why = "several heads share keys and values" if shared else "its maps are applied to positions, too"
        raise InputError(
            f"config.json: model_type = {config.model_type!r}: queries, keys and values of one head cannot be edited "
            f"alone: {why}. Leave out mechanism.paths"
        )
    for layer in dict.fromkeys(layers):
        numbers = [number for number, one in enumerate(layers) if one is layer]
        if family.order == "separate":
            for kind, name in zip(PROJECTIONS, family.projections, strict=True):
                yield layer.get_submodule(name), _of_one(kind, iter(numbers), heads, size)
        else:
            axis, shape = SPLIT[family.order]
            yield layer.get_submodule(family.projections[0]), _of_all(iter(numbers), axis, shape(heads, size))


def _of_one(kind: str, numbers: Iterator[int], heads: int, size: int) -> Callable[[Edit], Hook]:
    def made(edit: Edit) -> Hook:
        return lambda _, inputs, output: edit(kind, next(numbers), output.unflatten(-1, (heads, size))).flatten(-2)

    return made


def _of_all(numbers: Iterator[int], axis: int, shape: tuple[int, ...]) -> Callable[[Edit], Hook]:
    def made(edit: Edit) -> Hook:
        def hook(_, inputs, output):
            number = next(numbers)
            parts = zip(PROJECTIONS, output.unflatten(-1, shape).unbind(axis), strict=True)
            return torch.stack([edit(kind, number, part) for kind, part in parts], axis).flatten(-3)

        return hook

    return made
