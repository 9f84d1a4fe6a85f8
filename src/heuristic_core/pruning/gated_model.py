"""A model under the gates of one pruning step, computing no more than these gates need.

Hard-concrete gates are often exactly 0 or 1, and a gate that is clamped there has no gradient. So components that
every sample closes are cut out for the step, those that every sample opens are left as they are, and the backward pass
goes no further down than to the lowest gate that can move. All of this is exact.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from heuristic_core.models.ablation import ComponentMeans
from heuristic_core.models.batches import Batch
from heuristic_core.models.fused import FusedModel
from heuristic_core.models.model import Model


@dataclass(frozen=True)
class LayerGates:
    """The gates of one layer's heads, or of its MLP. columns: their component indices. values: [samples, n], a leaf of
    autograd. reference: [n, dh] or [d], what a closed one puts out."""

    columns: list[int] | slice
    values: Tensor
    reference: Tensor


class GatedModel:
    """`model` under gates z [samples, components].

    Looking at which gates are closed would make a GPU's host wait: there every component is computed and gated.
    untouched: whether every gate is known to be open, so that this is the full model.
    """

    def __init__(self, model: Model, z: Tensor, means: ComponentMeans):
        self._z, grid = z.detach(), model.grid
        closed, opened, moving = _states(self._z)
        removed = [c for c in range(len(grid)) if closed[c]] if isinstance(model, FusedModel) else []
        self._model = model.without(removed, means.heads, means.mlps) if removed else model
        self._gates: dict[tuple[str, int], LayerGates] = {}
        gone = set(removed)
        for layer in range(grid.layers):
            heads, mlp = range(layer * grid.heads, (layer + 1) * grid.heads), grid.layers * grid.heads + layer
            for kind, group in (("head", heads), ("mlp", [mlp])):
                left = [c for c in group if c not in gone]
                if all(opened[c] for c in left):
                    continue
                reference = means.mlps[layer] if kind == "mlp" else means.heads[layer]
                columns = slice(group[0], group[-1] + 1)  # a list of indices would make a GPU's host wait
                if len(left) < len(group):
                    columns, reference = left, reference[[c - group[0] for c in left]]
                values = self._z[:, columns].clone().requires_grad_(any(moving[c] for c in left))
                self._gates[kind, layer] = LayerGates(columns, values, reference)
        self.untouched = not removed and not self._gates

    def logits(self, batch: Batch, own: Tensor, dropout: bool = False) -> Tensor:
        """Class logits [B, classes]. own: int64 [B], which sample of the gates each pair has."""

        def edit(kind: str, layer: int, x: Tensor) -> Tensor:
            gates = self._gates.get((kind, layer))
            if gates is None:
                return x
            gate = gates.values[own].unsqueeze(1).to(x.dtype)  # [B, 1, n]
            return torch.lerp(gates.reference, x, gate.unsqueeze(-1) if kind == "head" else gate)

        return self._model.logits(batch, edit, dropout=dropout)

    def gradient(self) -> Tensor:
        """What the losses' backward passes have put on z, [samples, components]."""
        gradient = torch.zeros_like(self._z)
        for gates in self._gates.values():
            if gates.values.grad is not None:
                gradient[:, gates.columns] = gates.values.grad
        return gradient


def _states(z: Tensor) -> tuple[list[bool], list[bool], list[bool]]:
    """For each component whether all samples close it, all open it, and whether any can move."""
    if z.device.type != "cpu":
        size = z.shape[1]
        return [False] * size, [False] * size, [True] * size
    closed, opened = z == 0, z == 1
    return closed.all(0).tolist(), opened.all(0).tolist(), (~(closed | opened)).any(0).tolist()
