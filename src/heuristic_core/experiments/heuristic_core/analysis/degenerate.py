"""Cells of the grid that no claim may rest on: most of their pruning runs failed, collapsed or missed their target."""

from collections.abc import Iterator
from typing import NamedTuple

import pandas as pd

from heuristic_core.experiments.heuristic_core.analysis import core
from heuristic_core.experiments.heuristic_core.analysis.outcomes import counted, faults, mostly_faulty
from heuristic_core.experiments.heuristic_core.config.context import Context


class Cell(NamedTuple):
    """Pruning runs that are read together. sparsity: None for all sparsities of the grid."""

    step: int
    sparsity: float | None
    seeds: tuple[int, ...]
    repeat: int = 0

    def __str__(self) -> str:
        return f"step {self.step}" + ("" if self.sparsity is None else f", sparsity {self.sparsity:g}")

    def of(self, runs: pd.DataFrame) -> pd.DataFrame:
        here = (runs["step"] == self.step) & (runs["repeat"] == self.repeat) & runs["seed"].isin(list(self.seeds))
        return runs[here if self.sparsity is None else here & (runs["sparsity"] == self.sparsity)]


def unsound(runs: pd.DataFrame, context: Context, *names: str) -> Iterator[str]:
    """What is wrong with each of the named cells in which most runs did not go well.

    runs: table "runs" of one fine-tuning run. names: as :func:`cells` has them.
    """
    for cell in (cell for name in names for cell in cells(name, runs, context)):
        rows = cell.of(runs)
        if mostly_faulty(rows):
            yield f"of the {len(rows)} pruning runs at {cell}, {counted(faults(rows))}"


def cells(name: str, runs: pd.DataFrame, context: Context) -> list[Cell]:
    """The cells of a name: "mid", "high", "early" (the early checkpoint's), "curve" (each sparsity of the last
    checkpoint), "sizes" (all sparsities of each checkpoint: to effective size a collapsed run is unfaithful) or "entry"
    (fresh seeds at neighbouring checkpoints).

    runs: table "runs" of one fine-tuning run. Raises ValueError on another name.
    """
    curve = {"seeds": context.curve_seeds, "repeat": context.curve_repeat}
    match name:
        case "mid" | "high" | "early":
            return [Cell(*cell) for own, cell in core.cells(context).items() if own == name]
        case "curve":
            return [Cell(context.last, sparsity, **curve) for sparsity in sorted(runs["sparsity"].unique())]
        case "sizes":
            return [Cell(step, None, **curve) for step in context.checkpoints]
        case "entry":
            return [Cell(step, context.mid, context.entry_seeds) for step in context.entry]
    raise ValueError(f"no cell {name!r}")
