"""Edits that record what components put out, and that put recorded values in their place (activation patching)."""

from collections.abc import Collection, Mapping
from typing import NamedTuple

import torch
from torch import Tensor

from heuristic_core.models.ablation import ComponentMeans
from heuristic_core.models.components import ComponentGrid
from heuristic_core.models.model import PROJECTIONS, Edit

# By (kind, layer), what all heads of the layer have there: [B, T, H, dh], or what broadcasts against it. Of kind
# "input" what the layer gets, where an implementation gives it.
Source = Mapping[tuple[str, int], Tensor]


class Part(NamedTuple):
    """Heads (component indices) that take their values from a source. kind: "head", the context vectors, or one of
    `PROJECTIONS`."""

    heads: Collection[int]
    source: Source
    kind: str = "head"


class Patch:
    """An edit that replaces values of heads; of a head that is in several parts, the last part's hold.

    as_in: what was recorded in a run that is the same below the lowest layer of the last part: the run may begin there.
    """

    def __init__(self, grid: ComponentGrid, *parts: Part, as_in: Source | None = None):
        lowest = min((head // grid.heads for head in parts[-1].heads), default=0)
        self.start = (lowest, as_in["input", lowest]) if as_in and ("input", lowest) in as_in else None
        self.projections = any(part.kind in PROJECTIONS and part.heads for part in parts)
        self._replaced: dict[tuple[str, int], list[tuple[Tensor, Tensor]]] = {}
        for heads, source, kind in parts:
            for layer in sorted({head // grid.heads for head in heads}):
                value = source[kind, layer]
                own = torch.zeros(grid.heads, 1, dtype=torch.bool, device=value.device)
                own[[head % grid.heads for head in heads if head // grid.heads == layer]] = True
                self._replaced.setdefault((kind, layer), []).append((own, value))

    def __call__(self, kind: str, layer: int, x: Tensor) -> Tensor:
        for own, value in self._replaced.get((kind, layer), ()):
            x = torch.where(own, value, x)
        return x


class Recorder:
    """An edit that keeps the values of `kinds` in `seen`, a `Source`, as `edit` leaves them."""

    def __init__(self, kinds: Collection[str], edit: Edit | None = None):
        self.seen: dict[tuple[str, int], Tensor] = {}
        self.projections = any(kind in PROJECTIONS for kind in kinds) or getattr(edit, "projections", False)
        self.inputs, self.start = "input" in kinds, getattr(edit, "start", None)
        self._kinds, self._edit = kinds, edit

    def __call__(self, kind: str, layer: int, x: Tensor) -> Tensor:
        x = self._edit(kind, layer, x) if self._edit and kind != "input" else x
        if kind in self._kinds:
            self.seen[kind, layer] = x
        return x


def constants(means: ComponentMeans) -> Source:
    """The means of all heads, as what mean ablation puts in their place."""
    return {("head", layer): value for layer, value in enumerate(means.heads)}
