"""The grid of a model's components.

A component is one attention head or one whole MLP. Components are numbered heads first, layer by layer, then MLPs:
head h of layer l is ``l * heads + h``, the MLP of layer l is ``layers * heads + l``.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple


class Component(NamedTuple):
    """One prunable unit.

    Attributes:
        index: Position in the grid.
        kind: "head" or "mlp".
        layer: Layer, counted from 0.
        head: Head in its layer, counted from 0; None for an MLP.
    """

    index: int
    kind: str
    layer: int
    head: int | None

    @property
    def name(self) -> str:
        """`2.5` for head 5 of layer 2 (the paper's notation), `mlp 2` for the MLP of layer 2."""
        return f"mlp {self.layer}" if self.head is None else f"{self.layer}.{self.head}"


@dataclass(frozen=True)
class ComponentGrid:
    """The components of a model with `layers` layers of `heads` heads and one MLP each."""

    layers: int
    heads: int

    def __len__(self) -> int:
        return self.layers * self.heads + self.layers

    def __iter__(self) -> Iterator[Component]:
        for index in range(self.layers * self.heads):
            yield Component(index, "head", index // self.heads, index % self.heads)
        for layer in range(self.layers):
            yield Component(self.layers * self.heads + layer, "mlp", layer, None)

    def index(self, name: str) -> int:
        """Return the index of the component called `name`, as :attr:`Component.name` writes it.

        Raises:
            ValueError: No component has this name.
        """
        for component in self:
            if component.name == name:
                return component.index
        raise ValueError(f"unknown component {name!r}: the model has {self.layers} layers of {self.heads} heads")


def kept_count(size: int, sparsity: float) -> int:
    """Return how many components a subnetwork keeps: round((1 - sparsity) * size).

    Args:
        size: Number of components of the model.
        sparsity: Fraction of the components that is removed.
    """
    return round((1 - sparsity) * size)
