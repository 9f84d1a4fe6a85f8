"""Component means, and models with components replaced by them.

A removed component is not silenced but held at its mean over training tokens (METHOD, "mean ablation"):
``masked = keep * (x - mean) + mean``, for a head's context vector before the output projection and for an MLP's output.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from heuristic_core.components import ComponentGrid
from heuristic_core.files import replacing
from heuristic_core.models.batches import PairTensors
from heuristic_core.models.fused import FusedBert


@dataclass(frozen=True)
class ComponentMeans:
    """heads: [layers, H, dh], mean context vectors. mlps: [layers, d], mean MLP outputs."""

    heads: Tensor
    mlps: Tensor

    def save(self, path: str | Path) -> None:
        from safetensors.torch import save_file

        with replacing(path) as partial:
            save_file({"heads": self.heads, "mlps": self.mlps}, partial)

    @classmethod
    def load(cls, path: str | Path) -> "ComponentMeans":
        from safetensors.torch import load_file

        return cls(**load_file(path))


class MeanAblation:
    """An edit of a model's forward pass: every component mixed with its mean.

    gates: [components] or, one row per pair of the batch, [B, components]; 1 keeps a component, 0 replaces it.
    """

    def __init__(self, gates: Tensor, means: ComponentMeans, grid: ComponentGrid):
        heads, mlps = gates.split([grid.layers * grid.heads, grid.layers], -1)
        self._heads = heads.unflatten(-1, (grid.layers, grid.heads))  # [..., layers, H]
        self._mlps = mlps
        self._means = means

    def __call__(self, kind: str, layer: int, x: Tensor) -> Tensor:
        if kind == "head":
            gate = self._heads[..., layer, :].unsqueeze(-1)  # [H, 1] or [B, H, 1]
            gate, mean = (gate.unsqueeze(1) if gate.dim() == 3 else gate), self._means.heads[layer]
        else:
            gate = self._mlps[..., layer, None]  # [1] or [B, 1]
            gate, mean = (gate.unsqueeze(1) if gate.dim() == 2 else gate), self._means.mlps[layer]
        return torch.lerp(mean, x, gate)  # keep * (x - mean) + mean


def gates_without(components: Iterable[int], grid: ComponentGrid) -> Tensor:
    """Gates [components] that remove `components` (indices) and keep all others."""
    gates = torch.ones(len(grid))
    gates[list(components)] = 0
    return gates


@torch.no_grad()
def component_means(model: FusedBert, pairs: PairTensors, batches: Iterable[Tensor]) -> ComponentMeans:
    """One mean vector per component, pooled over all real tokens (special ones included) of the pairs in `batches`."""
    grid, width, size = model.grid, model.hidden, model.head_size
    heads = torch.zeros(grid.layers, grid.heads, size, dtype=torch.float64)
    mlps = torch.zeros(grid.layers, width, dtype=torch.float64)
    tokens = 0
    for index in batches:
        batch = pairs.batch(index)
        real = batch.mask()
        tokens += int(real.sum())

        def add(kind: str, layer: int, x: Tensor, real=real) -> Tensor:
            (heads if kind == "head" else mlps)[layer] += x[real].sum(0)
            return x

        model.logits(batch, add, every_row=True)
    return ComponentMeans((heads / tokens).float(), (mlps / tokens).float())
