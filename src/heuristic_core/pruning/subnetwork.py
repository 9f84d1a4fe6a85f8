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
    """The components kept by one pruning run, and the log alphas that decided it.

    identity: which run. layers, heads: shape of the grid. kept: ascending component indices.
    log_alpha: one per component, in component order. threshold: where one decided; None for exact k. rule: what
    decided, exact, by-hand, faithful or nearest (`discretise.Kept`); None in files older than this field.
    closed: ascending indices of components that the run was not allowed to keep.
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
        if both := sorted(set(self.kept) & set(self.closed)):
            raise ValueError(f"components {both} are closed, and cannot be kept")

    @property
    def grid(self) -> ComponentGrid:
        return ComponentGrid(self.layers, self.heads)

    @property
    def mask(self) -> list[float]:
        """1.0 for every kept component, 0.0 for every removed one, in component order."""
        kept = set(self.kept)
        return [float(i in kept) for i in range(len(self.grid))]

    def removed_from(self, grid: ComponentGrid) -> list[int]:
        """Indices of the components that are not kept, ascending. Raises InputError where it is of another `grid`."""
        if grid != self.grid:
            raise InputError(
                f"the subnetwork is of a model of {self.layers} layers with {self.heads} heads, "
                f"this model has {grid.layers} with {grid.heads}"
            )
        return [i for i, keep in enumerate(self.mask) if not keep]

    @property
    def actual_sparsity(self) -> float:
        """The share of components removed."""
        return 1 - len(self.kept) / len(self.grid)

    def rows(self) -> list[dict]:
        """One row of table `components` per component."""
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
        """Write a small JSON that a person can read; floats keep all their digits."""
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
        """Read what :meth:`save` wrote. Raises InputError, naming the file, if it holds a failed run or no run."""
        found = load_run(path)
        if isinstance(found, FailedRun):
            raise InputError(f"{path}: this pruning run found no subnetwork, it {found.reason}")
        return found


@dataclass(frozen=True)
class FailedRun:
    """A pruning run that found no subnetwork: a missing value. reason: such as "diverged by step 70: kl nan"."""

    identity: Identity
    reason: str

    def rows(self) -> list[dict]:
        """Its rows of table `components`: none."""
        return []

    def save(self, path: str | Path) -> None:
        """Write it in the place of a subnetwork."""
        text = {"identity": self.identity._asdict(), "failed": self.reason, "kept": None}
        write_text(path, json.dumps(text, indent=1) + "\n")


def load_run(path: str | Path) -> Subnetwork | FailedRun:
    """What a pruning run left at `path`. Raises InputError, naming the file, if it is no such file."""
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
