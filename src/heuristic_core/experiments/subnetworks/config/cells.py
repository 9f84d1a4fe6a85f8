"""Cells of the grid: the pruning runs of a study."""

from collections import defaultdict
from itertools import product
from operator import attrgetter
from typing import NamedTuple

from heuristic_core.experiments.subnetworks.config.mechanism import ClosedRun
from heuristic_core.experiments.subnetworks.config.study import Study


class Run(NamedTuple):
    """One pruning run of any checkpoint.

    Attributes:
        sparsity: Share of components to remove, 0-1.
        seed: Pruning seed.
    """

    sparsity: float
    seed: int


class Cell(NamedTuple):
    """One pruning run, repeated for every fine-tuning seed.

    Attributes:
        step: Fine-tuning step of the checkpoint.
        sparsity: Share of components to remove, 0-1.
        seed: Pruning seed.
    """

    step: int
    sparsity: float
    seed: int


def spread_cells(study: Study) -> list[Cell]:
    """Return every seed at both sparsities of the last checkpoint (paper: 12 seeds)."""
    grid = study.grid
    return [Cell(*key) for key in product([study.last_checkpoint], [grid.mid, grid.high], grid.seeds)]


def curve_cells(study: Study) -> list[Cell]:
    """Return the curve seeds at every sparsity and checkpoint of the grid, for accuracy curves and effective size."""
    grid = study.grid
    return [Cell(*key) for key in product(grid.checkpoints, grid.sparsities, grid.curve_seeds)]


def early_cells(study: Study) -> list[Cell]:
    """Return the early checkpoint's subnetworks at the high sparsity."""
    if study.grid.early is None:
        return []
    return [Cell(study.grid.early.checkpoint, study.grid.high, seed) for seed in study.grid.early.seeds]


def entry_cells(study: Study) -> list[Cell]:
    """Return fresh seeds at the mid sparsity of neighbouring checkpoints, to find when heads enter."""
    part = study.mechanism.entry
    return [Cell(*key) for key in product(part.checkpoints, [study.grid.mid], part.seeds)] if part else []


def repeated_cells(study: Study) -> list[Cell]:
    """Return the cells of the spread that run twice."""
    return [cell for cell in spread_cells(study) if cell.seed in study.grid.repeats]


def run_blocks(study: Study) -> list[list[Run]]:
    """Return the runs of each pruning job: at most ``prune.together``, pruned from the same checkpoints.

    They have equal numbers of steps and are ordered by seed, so that a later seed leaves full blocks as they are.
    """
    settings, steps = study.prune, defaultdict(list)
    for cell in list_cells(study):
        steps[Run(cell.sparsity, cell.seed)].append(cell.step)
    alike = defaultdict(list)
    for run in sorted(steps, key=attrgetter("seed", "sparsity")):
        alike[settings.total_steps(run.sparsity), *steps[run]].append(run)
    size = settings.together
    return [runs[i : i + size] for runs in alike.values() for i in range(0, len(runs), size)]


def closed_blocks(study: Study) -> list[list[ClosedRun]]:
    """Return the runs of each job of part `core_free`: at most ``prune.together``, of the core or of random sets."""
    part, size = study.mechanism.core_free, study.prune.together
    runs_by_kind = ([run for run in part.runs if bool(run.set) == random] for random in (False, True)) if part else ()
    return [runs[i : i + size] for runs in runs_by_kind for i in range(0, len(runs), size)]


def list_cells(study: Study) -> list[Cell]:
    """Return all cells without repeats, each once, in ascending order."""
    return sorted({*spread_cells(study), *curve_cells(study), *early_cells(study), *entry_cells(study)})


def pruned_steps(study: Study) -> list[int]:
    """Return the steps of the checkpoints with subnetworks, ascending; the last checkpoint is always among them."""
    return sorted({cell.step for cell in list_cells(study)})
