"""Activation patching: edits that record the outputs of components, and edits that replace them."""

from collections.abc import Collection, Mapping
from typing import NamedTuple

import torch
from torch import Tensor

from heuristic_core.models.ablation import ComponentMeans
from heuristic_core.models.components import ComponentGrid
from heuristic_core.models.model import PROJECTIONS, Edit

# By (kind, layer), the values of all heads of the layer: [B, T, H, dh], or a tensor that broadcasts against it. Kind
# "input" is the layer's input, [B, T, d], where an implementation offers it.
Source = Mapping[tuple[str, int], Tensor]


class Replacement(NamedTuple):
    """Heads whose values are replaced by those of a source.

    Attributes:
        heads: Component indices.
        source: The values.
        kind: "head" for the context vectors, or one of `PROJECTIONS`.
    """

    heads: Collection[int]
    source: Source
    kind: str = "head"


class Patch:
    """An edit that replaces values of heads.

    Args:
        grid: The components of the model.
        parts: What to replace; where parts share a head, the last one holds.
        cached: Values recorded in a run that is equal below the lowest layer of the last part, so that the forward pass
            can start there.
    """

    def __init__(self, grid: ComponentGrid, *parts: Replacement, cached: Source | None = None):
        lowest = min((head // grid.heads for head in parts[-1].heads), default=0)
        self.start = (lowest, cached["input", lowest]) if cached and ("input", lowest) in cached else None
        self.projections = any(part.kind in PROJECTIONS and part.heads for part in parts)
        self._replaced: dict[tuple[str, int], list[tuple[Tensor, Tensor]]] = {}
        for heads, source, kind in parts:
            for layer in sorted({head // grid.heads for head in heads}):
                value = source[kind, layer]
                is_replaced = torch.zeros(grid.heads, 1, dtype=torch.bool, device=value.device)
                is_replaced[[head % grid.heads for head in heads if head // grid.heads == layer]] = True
                self._replaced.setdefault((kind, layer), []).append((is_replaced, value))

    def __call__(self, kind: str, layer: int, x: Tensor) -> Tensor:
        """Return `x` with the replaced heads."""
        for is_replaced, value in self._replaced.get((kind, layer), ()):
            x = torch.where(is_replaced, value, x)
        return x


class Recorder:
    """An edit that records the values of `kinds`, after `edit`, in attribute `activations`, a `Source`."""

    def __init__(self, kinds: Collection[str], edit: Edit | None = None):
        self.activations: dict[tuple[str, int], Tensor] = {}
        self.projections = any(kind in PROJECTIONS for kind in kinds) or getattr(edit, "projections", False)
        self.inputs, self.start = "input" in kinds, getattr(edit, "start", None)
        self._kinds, self._edit = kinds, edit

    def __call__(self, kind: str, layer: int, x: Tensor) -> Tensor:
        """Apply the inner edit to `x` and record the result."""
        x = self._edit(kind, layer, x) if self._edit and kind != "input" else x
        if kind in self._kinds:
            self.activations[kind, layer] = x
        return x


def mean_source(means: ComponentMeans) -> Source:
    """Return the means of all heads as the source of mean ablation."""
    return {("head", layer): value for layer, value in enumerate(means.heads)}
