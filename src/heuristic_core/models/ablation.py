"""Ablation: values that replace removed components, and edits that put them in place.

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
    """Values that replace removed components: `heads[layer]` and `mlps[layer]` broadcast against the activations.

    Attributes:
        all_positions: Whether the values differ between positions, so that the last layer needs all positions of a pair
            and not the classified one alone.
    """

    all_positions: bool

    def for_batch(self, batch: Batch) -> "Reference":
        """Return the reference for the pairs of `batch`."""
        ...


@dataclass(frozen=True)
class ComponentMeans:
    """The same constants for every token.

    Attributes:
        heads: Mean context vectors, [layers, H, dh].
        mlps: Mean outputs, [layers, d].
    """

    heads: Tensor
    mlps: Tensor
    all_positions = False

    def for_batch(self, batch: Batch) -> "ComponentMeans":
        """Return the means themselves, which are the same for every batch."""
        return self

    def to(self, model: Model) -> "ComponentMeans":
        """Return the means on the device and in the precision of `model`."""
        return ComponentMeans(*(part.to(model.device, model.dtype) for part in (self.heads, self.mlps)))

    def save(self, path: str | Path) -> None:
        """Write the means to a safetensors file."""
        from safetensors.torch import save

        write_bytes(path, save({"heads": self.heads, "mlps": self.mlps}))

    @classmethod
    def load(cls, path: str | Path) -> "ComponentMeans":
        """Read what :meth:`save` wrote.

        Raises:
            InputError: A mean is not finite.
        """
        from safetensors.torch import load_file

        means = load_file(path)
        if not all(tensor.isfinite().all() for tensor in means.values()):
            raise InputError(f"{path}: component means contain NaN or infinity; the checkpoint is broken")
        return cls(**means)


def zero_means(model: Model) -> ComponentMeans:
    """Return the reference of zero ablation."""
    heads = torch.zeros(model.grid.layers, model.grid.heads, model.head_size)
    return ComponentMeans(heads, torch.zeros(model.grid.layers, model.hidden)).to(model)


@dataclass(frozen=True)
class Activations:
    """Outputs of every component on the pairs of one batch.

    Attributes:
        heads: Context vectors, one [B, T, H, dh] per layer.
        mlps: Outputs, one [B, T, d] per layer.
    """

    heads: Sequence[Tensor]
    mlps: Sequence[Tensor]
    all_positions = True


class DonorActivations:
    """The reference of resample and counterfactual ablation: pair i gets the model's activations on `donors[i]`.

    Token t of a pair of n tokens gets the activation of the donor's token round(t (m - 1) / (n - 1)) of m, so that
    first tokens and last tokens correspond. Donors run unablated.

    Raises:
        ValueError: The number of donors differs from the number of pairs.
    """

    all_positions = True

    def __init__(self, model: Model, pairs: PairTensors, donors: PairTensors):
        if len(donors) != len(pairs):
            raise ValueError(f"this ablation needs one donor per pair: {len(pairs)} pairs, {len(donors)} donors")
        self._model, self._pairs, self._donors = model, pairs, donors

    def for_batch(self, batch: Batch) -> Activations:
        """Run the model on the donors of `batch` and return their activations, aligned with its tokens."""
        index = batch.index
        pair_lengths, donor_lengths = self._pairs.lengths[index], self._donors.lengths[index]
        scale = (donor_lengths - 1) / (pair_lengths - 1).clamp(min=1)
        tokens = torch.arange(batch.ids.shape[1]) * scale[:, None]  # [B, T]
        tokens = tokens.round().long().minimum(donor_lengths[:, None] - 1).to(self._model.device)
        rows = torch.arange(len(index), device=self._model.device)[:, None]
        activations: dict[str, list[Tensor]] = {"head": [], "mlp": []}

        def record(kind: str, layer: int, x: Tensor) -> Tensor:
            activations[kind].append(x[rows, tokens])
            return x

        with torch.no_grad():
            self._model.logits(self._donors.batch(index), record, all_positions=True)
        return Activations(activations["head"], activations["mlp"])


class Ablation:
    """An edit of a model's forward pass on one batch that mixes every component with its reference.

    Args:
        gates: [components], or [B, components] with one row per pair of the batch; 1 keeps a component, 0 replaces it.
        reference: Values for this batch.
        grid: The components of the model.
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
        """Return `x` mixed with the reference."""
        gate = self._gates[kind][layer].to(x.dtype)
        return torch.lerp(self._references[kind][layer], x, gate)  # keep * (x - reference) + reference


@dataclass(frozen=True)
class Mask:
    """A subnetwork of one model, as an ablation that applies to any batch.

    Attributes:
        gates: [components], 1 keeps a component, 0 replaces it.
        reference: Values that replace components.
        grid: The components of the model.
    """

    gates: Tensor
    reference: Reference
    grid: ComponentGrid

    @property
    def all_positions(self) -> bool:
        """Whether the reference needs all positions of the last layer."""
        return self.reference.all_positions

    def for_batch(self, batch: Batch) -> Edit:
        """Return the edit for the pairs of `batch`."""
        return Ablation(self.gates, self.reference.for_batch(batch), self.grid)


def gates_without(components: Iterable[int], grid: ComponentGrid) -> Tensor:
    """Return gates [components] that remove some components and keep all others.

    Args:
        components: Component indices to remove.
        grid: Components of the model.
    """
    gates = torch.ones(len(grid))
    gates[list(components)] = 0
    return gates


@torch.no_grad()
def component_means(model: Model, pairs: PairTensors, batches: Iterable[Tensor]) -> ComponentMeans:
    """Compute one mean vector per component over all tokens of the pairs in `batches`.

    Special tokens count, padding does not.

    Args:
        model: The full model.
        pairs: Encoded pairs.
        batches: Indices into `pairs`, int64 [B] each.
    """
    grid = model.grid
    heads = torch.zeros(grid.layers, grid.heads, model.head_size, dtype=torch.float64, device=model.device)
    mlps = torch.zeros(grid.layers, model.hidden, dtype=torch.float64, device=model.device)
    tokens, sum_dtype = 0, torch.promote_types(model.dtype, torch.float32)  # float16 cannot hold the sum of many tokens
    for index in batches:
        batch = pairs.batch(index)
        real = batch.mask()
        tokens += int(pairs.lengths[index].sum())

        def add(kind: str, layer: int, x: Tensor, real=real) -> Tensor:
            (heads if kind == "head" else mlps)[layer] += x[real].sum(0, dtype=sum_dtype)
            return x

        model.logits(batch, add, all_positions=True)
    return ComponentMeans((heads / tokens).float(), (mlps / tokens).float())
