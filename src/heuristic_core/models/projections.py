"""Forward hooks that edit queries, keys and values of Hugging Face models head by head."""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from heuristic_core.common.errors import InputError
from heuristic_core.models.families import Family
from heuristic_core.models.model import PROJECTIONS, Edit

if TYPE_CHECKING:
    from transformers import PretrainedConfig

Hook = Callable[[nn.Module, tuple, Tensor], Tensor]
LAYOUTS = {  # by the order of a joint map's rows: axis of queries, keys and values, and shape of its output
    "stacked": (-3, lambda heads, size: (3, heads, size)),
    "interleaved": (-2, lambda heads, size: (heads, 3, size)),
}


def projection_hooks(
    family: Family, config: "PretrainedConfig", layers: Sequence[nn.Module], heads: int, size: int
) -> Iterator[tuple[nn.Module, Callable[[Edit], Hook]]]:
    """Yield each map of `layers` to queries, keys or values, with a function that turns an edit into its forward hook.

    Args:
        family: Where the maps are.
        config: The model's configuration.
        layers: In the order of application; each application of a shared map counts as the next layer.
        heads: Number of heads of each layer.
        size: Head size.

    Raises:
        InputError: Heads share keys and values, or the maps are applied to positions as well.
    """
    shared = getattr(config, "num_key_value_heads", None) not in (None, heads)
    if shared or len(family.projections) > len(PROJECTIONS):
        reason = "several heads share keys and values" if shared else "its maps are applied to positions as well"
        raise InputError(
            f"config.json: model_type = {config.model_type!r}: queries, keys and values of one head cannot be edited "
            f"separately: {reason}. Remove mechanism.paths"
        )
    for layer in dict.fromkeys(layers):
        numbers = [number for number, other in enumerate(layers) if other is layer]
        if family.order == "separate":
            for kind, name in zip(PROJECTIONS, family.projections, strict=True):
                yield layer.get_submodule(name), _separate_hook(kind, iter(numbers), heads, size)
        else:
            axis, shape = LAYOUTS[family.order]
            yield layer.get_submodule(family.projections[0]), _joint_hook(iter(numbers), axis, shape(heads, size))


def _separate_hook(kind: str, numbers: Iterator[int], heads: int, size: int) -> Callable[[Edit], Hook]:
    def make_hook(edit: Edit) -> Hook:
        return lambda _, inputs, output: edit(kind, next(numbers), output.unflatten(-1, (heads, size))).flatten(-2)

    return make_hook


def _joint_hook(numbers: Iterator[int], axis: int, shape: tuple[int, ...]) -> Callable[[Edit], Hook]:
    def make_hook(edit: Edit) -> Hook:
        def hook(_, inputs, output):
            number = next(numbers)
            parts = zip(PROJECTIONS, output.unflatten(-1, shape).unbind(axis), strict=True)
            return torch.stack([edit(kind, number, part) for kind, part in parts], axis).flatten(-3)

        return hook

    return make_hook
