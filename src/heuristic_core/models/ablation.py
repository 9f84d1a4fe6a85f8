"""What takes the place of a removed component, and models with components replaced by it.

Mean ablation: ``masked = keep * (x - reference) + reference``, for a head's context vector before the output
projection and for an MLP's output. The reference is the component's mean over training tokens (the default), zero, or
its activation on another example (resample and counterfactual ablation).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import torch
from torch import Tensor

from heuristic_core.common.atomic import write_bytes
from heuristic_core.common.errors import InputError
from heuristic_core.models.batches import Batch, PairTensors
from heuristic_core.models.components import ComponentGrid
from heuristic_core.models.model import Edit, Model


class Reference(Protocol):
    """What a removed component puts out: `heads[layer]` and `mlps[layer]` broadcast against its activations.

    every_row: whether it replaces all rows of a pair, so that the last layer cannot be computed for one row alone.
    """

    every_row: bool

    def on(self, batch: Batch) -> "Reference":
        """The reference for the pairs of `batch`."""
        ...


@dataclass(frozen=True)
class ComponentMeans:
    """The same constants for every token.

    heads: [layers, H, dh], mean context vectors. mlps: [layers, d], mean outputs.
    """

    heads: Tensor
    mlps: Tensor
    every_row = False

    def on(self, batch: Batch) -> "ComponentMeans":
        return self

    def to(self, model: Model) -> "ComponentMeans":
        """On the device and in the precision of `model`."""
        return ComponentMeans(*(part.to(model.device, model.dtype) for part in (self.heads, self.mlps)))

    def save(self, path: str | Path) -> None:
        from safetensors.torch import save

        write_bytes(path, save({"heads": self.heads, "mlps": self.mlps}))

    @classmethod
    def load(cls, path: str | Path) -> "ComponentMeans":
        from safetensors.torch import load_file

        means = load_file(path)
        if not all(tensor.isfinite().all() for tensor in means.values()):
            raise InputError(f"{path}: component means are not finite; the checkpoint is broken")
        return cls(**means)


def zeros(model: Model) -> ComponentMeans:
    """The reference of zero ablation."""
    heads = torch.zeros(model.grid.layers, model.grid.heads, model.head_size)
    return ComponentMeans(heads, torch.zeros(model.grid.layers, model.hidden)).to(model)


@dataclass(frozen=True)
class Activations:
    """What every component puts out on the pairs of one batch. heads: per layer [B, T, H, dh]; mlps: [B, T, d]."""

    heads: Sequence[Tensor]
    mlps: Sequence[Tensor]
    every_row = True


class Resampled:
    """The reference of resample and counterfactual ablation: pair i takes the activations that the model has on
    `donors[i]`.

    Token t of a pair of n tokens takes the place of the donor's token round(t (m - 1) / (n - 1)) of m: first falls on
    first, last on last. Donors run unablated. Raises InputError where there are not as many donors as pairs.
    """

    every_row = True

    def __init__(self, model: Model, pairs: PairTensors, donors: PairTensors):
        if len(donors) != len(pairs):
            raise InputError(f"this ablation needs a donor for each of {len(pairs)} pairs; there are {len(donors)}")
        self._model, self._pairs, self._donors = model, pairs, donors

    def on(self, batch: Batch) -> Activations:
        index = batch.index
        own, other = self._pairs.lengths[index], self._donors.lengths[index]
        share = (other - 1) / (own - 1).clamp(min=1)
        tokens = torch.arange(batch.ids.shape[1]) * share[:, None]  # [B, T]
        tokens = tokens.round().long().minimum(other[:, None] - 1).to(self._model.device)
        rows = torch.arange(len(index), device=self._model.device)[:, None]
        seen: dict[str, list[Tensor]] = {"head": [], "mlp": []}

        def record(kind: str, layer: int, x: Tensor) -> Tensor:
            seen[kind].append(x[rows, tokens])
            return x

        with torch.no_grad():
            self._model.logits(self._donors.batch(index), record, every_row=True)
        return Activations(seen["head"], seen["mlp"])


class Ablation:
    """An edit of a model's forward pass on one batch: every component mixed with its reference.

    gates: [components] or, one row per pair of the batch, [B, components]; 1 keeps a component, 0 replaces it.
    """

    def __init__(self, gates: Tensor, reference: Reference, grid: ComponentGrid):
        heads, mlps = gates.split([grid.layers * grid.heads, grid.layers], -1)
        heads = heads.unflatten(-1, (grid.layers, grid.heads, 1))
        if gates.dim() == 2:  # a token axis, over which a pair's gates are the same
            heads, mlps = heads.unsqueeze(1), mlps.unsqueeze(1)
        self._gates = {
            "head": heads.unbind(-3),
            "mlp": mlps.unsqueeze(-1).unbind(-2),
        }  # [.., H, 1] and [.., 1] per layer
        self._references = {"head": reference.heads, "mlp": reference.mlps}

    def __call__(self, kind: str, layer: int, x: Tensor) -> Tensor:
        gate = self._gates[kind][layer].to(x.dtype)
        return torch.lerp(self._references[kind][layer], x, gate)  # keep * (x - reference) + reference


@dataclass(frozen=True)
class Mask:
    """A subnetwork of one model as an ablation of every batch: gates [components], 1 kept and 0 replaced."""

    gates: Tensor
    reference: Reference
    grid: ComponentGrid

    @property
    def every_row(self) -> bool:
        return self.reference.every_row

    def on(self, batch: Batch) -> Edit:
        return Ablation(self.gates, self.reference.on(batch), self.grid)


def gates_without(components: Iterable[int], grid: ComponentGrid) -> Tensor:
    """Gates [components] that remove `components` (indices) and keep all others."""
    gates = torch.ones(len(grid))
    gates[list(components)] = 0
    return gates


@torch.no_grad()
def component_means(model: Model, pairs: PairTensors, batches: Iterable[Tensor]) -> ComponentMeans:
    """One mean vector per component, pooled over all real tokens (special ones included) of the pairs in `batches`."""
    grid = model.grid
    heads = torch.zeros(grid.layers, grid.heads, model.head_size, dtype=torch.float64, device=model.device)
    mlps = torch.zeros(grid.layers, model.hidden, dtype=torch.float64, device=model.device)
    tokens, wide = 0, torch.promote_types(model.dtype, torch.float32)  # float16 cannot hold the sum of many tokens
    for index in batches:
        batch = pairs.batch(index)
        real = batch.mask()
        tokens += int(pairs.lengths[index].sum())

        def add(kind: str, layer: int, x: Tensor, real=real) -> Tensor:
            (heads if kind == "head" else mlps)[layer] += x[real].sum(0, dtype=wide)
            return x

        model.logits(batch, add, every_row=True)
    return ComponentMeans((heads / tokens).float(), (mlps / tokens).float())
