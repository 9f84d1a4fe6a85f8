"""Subnetworks: sets of components with an identity, and their JSON files."""

import json
from dataclasses import dataclass, field
from pathlib import Path

from heuristic_core.common.atomic import write_text
from heuristic_core.common.errors import InputError
from heuristic_core.models.components import ComponentGrid
from heuristic_core.tables.identity import Identity


@dataclass(frozen=True)
class Subnetwork:
    """The components kept by one pruning run, and the log alphas from which they were chosen.

    Attributes:
        identity: The run.
        layers: Number of layers.
        heads: Heads per layer.
        kept: Ascending component indices.
        log_alpha: One value per component.
        threshold: Threshold of the soft mask; None for exact k.
        rule: "exact", "by-hand", "faithful" or "nearest" (`discretise.KeptComponents`); None in older files.
        closed: Ascending indices of components that the run was not allowed to keep.
    """

    identity: Identity
    layers: int
    heads: int
    kept: tuple[int, ...]
    log_alpha: tuple[float, ...] = field(repr=False)
    threshold: float | None = None
    rule: str | None = "exact"
    closed: tuple[int, ...] = ()

    def __post_init__(self):
        size = len(self.grid)
        if len(self.log_alpha) != size:
            raise ValueError(f"{len(self.log_alpha)} log alphas for {size} components")
        if list(self.kept) != sorted(set(self.kept)) or not set(self.kept) <= set(range(size)):
            raise ValueError(f"kept components must be ascending indices below {size}, got {self.kept}")
        if kept_and_closed := sorted(set(self.kept) & set(self.closed)):
            raise ValueError(f"components {kept_and_closed} are both closed and kept")

    @property
    def grid(self) -> ComponentGrid:
        """The components of the model."""
        return ComponentGrid(self.layers, self.heads)

    @property
    def mask(self) -> list[float]:
        """1.0 for every kept component, 0.0 for every removed one, in component order."""
        kept = set(self.kept)
        return [float(i in kept) for i in range(len(self.grid))]

    def list_removed(self, grid: ComponentGrid) -> list[int]:
        """Return the ascending indices of removed components.

        Raises:
            InputError: The subnetwork belongs to a model with another `grid`.
        """
        if grid != self.grid:
            cell = f"step {self.identity.step}, sparsity {self.identity.sparsity:g}, seed {self.identity.seed}"
            raise InputError(
                f"subnetwork at {cell}: made for {self.layers} layers with {self.heads} heads, but this model has "
                f"{grid.layers} layers with {grid.heads} heads"
            )
        return [i for i, keep in enumerate(self.mask) if not keep]

    @property
    def actual_sparsity(self) -> float:
        """The share of components removed."""
        return 1 - len(self.kept) / len(self.grid)

    def rows(self) -> list[dict]:
        """Return one row of table `components` per component."""
        return [
            {
                **self.identity._asdict(),
                "actual_sparsity": self.actual_sparsity,
                "component": component.index,
                "name": component.name,
                "kind": component.kind,
                "layer": component.layer,
                "head": component.head,
                "kept": bool(keep),
                "log_alpha": alpha,
            }
            for component, keep, alpha in zip(self.grid, self.mask, self.log_alpha, strict=True)
        ]

    def save(self, path: str | Path) -> None:
        """Write a small, readable JSON file; floats keep all digits."""
        components = list(self.grid)
        text = {
            "identity": self.identity._asdict(),
            "layers": self.layers,
            "heads": self.heads,
            "actual_sparsity": self.actual_sparsity,
            "threshold": self.threshold,
            "rule": self.rule,
            "kept": [components[i].name for i in self.kept],
            "log_alpha": {c.name: a for c, a in zip(components, self.log_alpha, strict=True)},
        }
        if self.closed:
            text["closed"] = [components[i].name for i in self.closed]
        write_text(path, json.dumps(text, indent=1) + "\n")

    @classmethod
    def load(cls, path: str | Path) -> "Subnetwork":
        """Read what :meth:`save` wrote.

        Raises:
            InputError: The file holds a failed run, or something else.
        """
        run = load_run(path)
        if isinstance(run, FailedRun):
            raise InputError(f"{path}: this pruning run failed: it {run.reason}")
        return run


@dataclass(frozen=True)
class FailedRun:
    """A pruning run without a subnetwork: a missing value.

    Attributes:
        identity: The run.
        reason: Such as "diverged by step 70: kl nan".
    """

    identity: Identity
    reason: str

    def rows(self) -> list[dict]:
        """Return its rows of table `components`: none."""
        return []

    def save(self, path: str | Path) -> None:
        """Write the failure instead of a subnetwork."""
        text = {"identity": self.identity._asdict(), "failed": self.reason, "kept": None}
        write_text(path, json.dumps(text, indent=1) + "\n")


def load_run(path: str | Path) -> Subnetwork | FailedRun:
    """Read the subnetwork or failure that a pruning run wrote to `path`.

    Raises:
        InputError: The file holds something else.
    """
    try:
        text = json.loads(Path(path).read_text())
        identity = Identity(**text["identity"])
        if text["kept"] is None:
            return FailedRun(identity, text["failed"])
        grid = ComponentGrid(text["layers"], text["heads"])
        kept = tuple(sorted(grid.index(name) for name in text["kept"]))
        closed = tuple(sorted(grid.index(name) for name in text.get("closed", ())))
        alphas = tuple(float(text["log_alpha"][c.name]) for c in grid)
        return Subnetwork(identity, grid.layers, grid.heads, kept, alphas, text["threshold"], text.get("rule"), closed)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path} is not a subnetwork file: {error}") from error
