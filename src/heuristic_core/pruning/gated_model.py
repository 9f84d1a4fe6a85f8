"""A model under the gates of one pruning step, with only the computation that these gates need.

Hard-concrete gates are often exactly 0 or 1, and a gate clamped there has no gradient. So components closed in every
sample are removed for the step, components open in every sample are not gated, and the backward pass stops at the
lowest gate that has a gradient. The result is exact.
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
    """The gates of one layer's heads, or of its MLP.

    Attributes:
        columns: Component indices.
        values: [samples, n], a leaf of autograd.
        reference: Output of a closed component, [n, dh] or [d].
    """

    columns: list[int] | slice
    values: Tensor
    reference: Tensor


class GatedModel:
    """`model` under gates z [samples, components].

    On a GPU, every component is computed and gated, as reading which gates are closed would make the host wait.

    Attributes:
        all_open: Whether every gate is known to be open, so that this is the full model.
    """

    def __init__(self, model: Model, z: Tensor, means: ComponentMeans):
        self._z, grid = z.detach(), model.grid
        is_closed, is_open, has_gradient = _states(self._z)
        removed = [c for c in range(len(grid)) if is_closed[c]] if isinstance(model, FusedModel) else []
        self._model = model.remove_components(removed, means.heads, means.mlps) if removed else model
        self._gates: dict[tuple[str, int], LayerGates] = {}
        removed_set = set(removed)
        for layer in range(grid.layers):
            heads, mlp = range(layer * grid.heads, (layer + 1) * grid.heads), grid.layers * grid.heads + layer
            for kind, group in (("head", heads), ("mlp", [mlp])):
                remaining = [c for c in group if c not in removed_set]
                if all(is_open[c] for c in remaining):
                    continue
                reference = means.mlps[layer] if kind == "mlp" else means.heads[layer]
                columns = slice(group[0], group[-1] + 1)  # a list of indices would make the host wait for a GPU
                if len(remaining) < len(group):
                    columns, reference = remaining, reference[[c - group[0] for c in remaining]]
                values = self._z[:, columns].clone().requires_grad_(any(has_gradient[c] for c in remaining))
                self._gates[kind, layer] = LayerGates(columns, values, reference)
        self.all_open = not removed and not self._gates

    def logits(self, batch: Batch, sample: Tensor, dropout: bool = False) -> Tensor:
        """Compute class logits, [B, classes].

        Args:
            batch: Encoded pairs.
            sample: Index of the gate sample of each pair, int64 [B].
            dropout: Whether to apply dropout at the rates of the model's configuration.
        """

        def edit(kind: str, layer: int, x: Tensor) -> Tensor:
            gates = self._gates.get((kind, layer))
            if gates is None:
                return x
            gate = gates.values[sample].unsqueeze(1).to(x.dtype)  # [B, 1, n]
            return torch.lerp(gates.reference, x, gate.unsqueeze(-1) if kind == "head" else gate)

        return self._model.logits(batch, edit, dropout=dropout)

    def gradient(self) -> Tensor:
        """Return the gradient in z accumulated by backward passes, [samples, components]."""
        gradient = torch.zeros_like(self._z)
        for gates in self._gates.values():
            if gates.values.grad is not None:
                gradient[:, gates.columns] = gates.values.grad
        return gradient


def _states(z: Tensor) -> tuple[list[bool], list[bool], list[bool]]:
    """Return, per component, whether all samples close it, whether all open it, and whether any has a gradient."""
    if z.device.type != "cpu":
        size = z.shape[1]
        return [False] * size, [False] * size, [True] * size
    closed, is_open = z == 0, z == 1
    return closed.all(0).tolist(), is_open.all(0).tolist(), (~(closed | is_open)).any(0).tolist()
