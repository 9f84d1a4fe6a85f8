"""Find cells of the grid that cannot support claims, as half of the runs are faulty or all subnetworks identical."""

from collections.abc import Iterator
from typing import NamedTuple

import pandas as pd

from heuristic_core.experiments.subnetworks.analysis import core
from heuristic_core.experiments.subnetworks.analysis.outcomes import format_counts, mark_faults, mostly_faulty
from heuristic_core.experiments.subnetworks.config.context import Context


class Cell(NamedTuple):
    """Pruning runs that are analysed together.

    Attributes:
        step: Training step of the checkpoint.
        sparsity: Target sparsity; None for all sparsities of the grid.
        seeds: Pruning seeds.
        repeat: Index of the repeated run of a seed.
    """

    step: int
    sparsity: float | None
    seeds: tuple[int, ...]
    repeat: int = 0

    def __str__(self) -> str:
        return f"step {self.step}" + ("" if self.sparsity is None else f", sparsity {self.sparsity:g}")

    def select(self, runs: pd.DataFrame) -> pd.DataFrame:
        """Select the rows of table "runs" in this cell."""
        in_cell = (runs["step"] == self.step) & (runs["repeat"] == self.repeat) & runs["seed"].isin(list(self.seeds))
        return runs[in_cell if self.sparsity is None else in_cell & (runs["sparsity"] == self.sparsity)]


def describe_unsound_cells(runs: pd.DataFrame, context: Context, *names: str) -> Iterator[str]:
    """Yield a description of each named cell in which half of the runs or more have a fault.

    Args:
        runs: Table "runs" of one fine-tuning run.
        context: Cells of the study.
        names: Names of :func:`list_cells`.
    """
    for cell in (cell for name in names for cell in list_cells(name, runs, context)):
        rows = cell.select(runs)
        if mostly_faulty(rows):
            yield f"of the {len(rows)} pruning runs at {cell}, {format_counts(mark_faults(rows))}"


def iterate_identical_cells(
    components: pd.DataFrame, runs: pd.DataFrame, context: Context, *names: str
) -> Iterator[tuple[int, Cell]]:
    """Yield each named cell whose pruning seeds all gave the same subnetworks, with the number of seeds.

    Args:
        components: Table "components" of one fine-tuning run.
        runs: Table "runs" of the same run.
        context: Cells of the study.
        names: Names of :func:`list_cells`.
    """
    for cell in (cell for name in names for cell in list_cells(name, runs, context)):
        rows = cell.select(components)
        masks = rows.pivot_table(index="seed", columns=["sparsity", "component"], values="kept", aggfunc="first")
        if len(masks) > 1 and len(masks.drop_duplicates()) == 1:
            yield len(masks), cell


def list_cells(name: str, runs: pd.DataFrame, context: Context) -> list[Cell]:
    """Return the cells of a name.

    Args:
        name: "mid", "high", "early" (early checkpoint), "curve" (each sparsity of the last checkpoint), "sizes" (all
            sparsities of each checkpoint together, as a collapsed run is merely unfaithful for effective size) or
            "entry" (fresh seeds at neighbouring checkpoints).
        runs: Table "runs" of one fine-tuning run.
        context: Cells of the study.

    Raises:
        ValueError: If the name is unknown.
    """
    curve = {"seeds": context.curve_seeds, "repeat": context.curve_repeat}
    match name:
        case "mid" | "high" | "early":
            return [Cell(*cell) for cell_name, cell in core.list_cells(context).items() if cell_name == name]
        case "curve":
            return [Cell(context.last, sparsity, **curve) for sparsity in sorted(runs["sparsity"].unique())]
        case "sizes":
            return [Cell(step, None, **curve) for step in context.checkpoints]
        case "entry":
            return [Cell(step, context.mid, context.entry_seeds) for step in context.entry]
    raise ValueError(f"unknown cell {name!r}; choose from mid, high, early, curve, sizes, entry")
