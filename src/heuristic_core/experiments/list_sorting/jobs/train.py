"""Training of one condition's models."""

import shutil
from itertools import pairwise
from pathlib import Path

from safetensors.torch import save
from torch import Tensor

from heuristic_core.common.atomic import write_bytes
from heuristic_core.common.roles import Output, Unfinished, require_same_length
from heuristic_core.experiments.list_sorting.conditions import describe_condition
from heuristic_core.experiments.list_sorting.config import ListSorting, Training
from heuristic_core.experiments.list_sorting.data import draw_lists
from heuristic_core.experiments.list_sorting.training import train
from heuristic_core.tables.parquet import write_table


def train_models(
    sorting: ListSorting,
    study: str,
    condition: str,
    checkpoints: list[Output],
    trace: Output,
    conditions: Output,
    unfinished: Unfinished,
) -> None:
    """Train list-sorting transformers, one for each seed, and keep checkpoints.

    Args:
        sorting: Data, model and training of the condition.
        study: Name of the study.
        condition: Name of the condition.
        checkpoints: Where to write weights (safetensors), a file for each kept step.
        trace: Where to write losses, table sorting_trace.
        conditions: Where to write what the condition is, table sorting_conditions.
        unfinished: Folder of the state from which the job resumes.

    Raises:
        DivergenceError: A loss is not finite.
    """
    kept, names = sorting.training.kept, {"study": study, "condition": condition}
    require_same_length(**{"sorting.training.kept": kept, "checkpoints": checkpoints})

    def keep(step: int, parameters: dict[str, Tensor]) -> list[Path]:
        path = unfinished / f"{step}.safetensors"
        write_bytes(path, save(parameters))
        return [path]

    drawn = draw_lists(sorting.data)
    trained = train(sorting, drawn.train, keep, unfinished / "state.safetensors")
    for step, path in zip(kept, checkpoints, strict=True):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(unfinished / f"{step}.safetensors", path)  # a copy: cut off here, the next run can do it again
    rows = [names | row for row in trace_rows(trained.losses, sorting.training)]
    write_table("sorting_trace", rows, trace)
    write_table("sorting_conditions", [names | describe_condition(sorting, drawn.held_out)], conditions)


def trace_rows(losses: Tensor, training: Training) -> list[dict]:
    """Return rows of table "sorting_trace" without study and condition: mean losses between kept steps.

    Args:
        losses: Loss of every step, nats, float32 [steps, seeds].
        training: Settings of training.
    """
    return [
        {"seed": seed, "step": step, "loss": float(losses[before:step, m].double().mean())}
        for m, seed in enumerate(training.seeds)
        for before, step in pairwise(training.kept)
    ]
