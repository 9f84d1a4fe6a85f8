"""Which subnetworks a study has: the cells of its grid."""

from itertools import product
from typing import NamedTuple

from heuristic_core.experiments.heuristic_core.config.mechanism import ClosedRun
from heuristic_core.experiments.heuristic_core.config.study import Study


class Cell(NamedTuple):
    """One pruning run of every fine-tuning seed."""

    step: int
    sparsity: float
    seed: int


def spread(study: Study) -> list[Cell]:
    """Every seed at both sparsities of the last checkpoint (paper: 12 seeds)."""
    grid = study.grid
    return [Cell(*c) for c in product([study.last_checkpoint], [grid.mid, grid.high], grid.seeds)]


def surface(study: Study) -> list[Cell]:
    """The curve seeds at every sparsity of every checkpoint of the grid: accuracy curves and effective size."""
    grid = study.grid
    return [Cell(*c) for c in product(grid.checkpoints, grid.sparsities, grid.curve_seeds)]


def early(study: Study) -> list[Cell]:
    """The early checkpoint's subnetworks at the high sparsity."""
    if study.grid.early is None:
        return []
    return [Cell(study.grid.early.checkpoint, study.grid.high, seed) for seed in study.grid.early.seeds]


def entry(study: Study) -> list[Cell]:
    """Fresh seeds at the mid sparsity of neighbouring checkpoints: when heads enter."""
    part = study.mechanism.entry
    return [Cell(*c) for c in product(part.checkpoints, [study.grid.mid], part.seeds)] if part else []


def repeats(study: Study) -> list[Cell]:
    """The cells of the spread that run a second time."""
    return [cell for cell in spread(study) if cell.seed in study.grid.repeats]


def seed_blocks(study: Study) -> list[list[int]]:
    """Pruning seeds by which share a job: at most ``prune.together`` that are wanted at the same cells."""
    grid, size = study.grid, study.prune.together
    part = study.mechanism.entry
    kinds = (grid.curve_seeds, grid.early.seeds if grid.early else [], grid.seeds, part.seeds if part else [])
    classes: dict[tuple, list[int]] = {}
    for seed in dict.fromkeys(seed for seeds in kinds for seed in seeds):
        classes.setdefault(tuple(seed in seeds for seeds in kinds), []).append(seed)
    return [seeds[i : i + size] for seeds in classes.values() for i in range(0, len(seeds), size)]


def closed_blocks(study: Study) -> list[list[ClosedRun]]:
    """The runs of part `core_free` that share a job: at most ``prune.together``, of the core or of random sets."""
    part, size = study.mechanism.core_free, study.prune.together
    kinds = ([run for run in part.runs if bool(run.set) == random] for random in (False, True)) if part else ()
    return [runs[i : i + size] for runs in kinds for i in range(0, len(runs), size)]


def cells(study: Study) -> list[Cell]:
    """All of them, each once, in ascending order."""
    return sorted({*spread(study), *surface(study), *early(study), *entry(study)})
