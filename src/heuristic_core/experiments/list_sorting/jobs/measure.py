"""Losses, circuits and ablations of one condition's models at every checkpoint."""

from collections import defaultdict

from safetensors.torch import load_file

from heuristic_core.common.progress import Progress
from heuristic_core.common.roles import Input, Output, require_same_length
from heuristic_core.experiments.list_sorting.config import ListSorting
from heuristic_core.experiments.list_sorting.data import draw_lists, make_sequences
from heuristic_core.experiments.list_sorting.measuring import Sample, measure_checkpoint
from heuristic_core.experiments.list_sorting.study import Measure, select_evenly
from heuristic_core.tables.parquet import write_table


def measure_models(
    checkpoints: list[Input],
    sorting: ListSorting,
    measure: Measure,
    study: str,
    condition: str,
    models: Output,
    heads: Output,
    ablations: Output,
    mode_ablations: Output,
    numbers: Output,
    matrices: Output,
    distance: Output,
) -> None:
    """Measure every checkpoint of the models of one condition: losses, circuits of heads, and ablations.

    Args:
        checkpoints: Weights (safetensors), a file for each kept step.
        sorting: Data, model and training of the condition.
        measure: Block `measure` of the configuration.
        study: Name of the study.
        condition: Name of the condition.
        models: Where to write table sorting_models.
        heads: Where to write table sorting_heads.
        ablations: Where to write table sorting_ablations.
        mode_ablations: Where to write table sorting_mode_ablations.
        numbers: Where to write table sorting_numbers.
        matrices: Where to write table sorting_matrices.
        distance: Where to write table sorting_distance.
    """
    kept, seeds = sorting.training.kept, sorting.training.seeds
    require_same_length(**{"sorting.training.kept": kept, "checkpoints": checkpoints})
    paths = {
        "sorting_models": models,
        "sorting_heads": heads,
        "sorting_ablations": ablations,
        "sorting_mode_ablations": mode_ablations,
        "sorting_numbers": numbers,
        "sorting_matrices": matrices,
        "sorting_distance": distance,
    }
    sample, matrix_steps = _sample(sorting, measure), select_evenly(kept, measure.matrices)
    rows, progress = defaultdict(list), Progress("measure", len(kept))
    for number, (step, checkpoint) in enumerate(zip(kept, checkpoints, strict=True), 1):
        names = {"study": study, "condition": condition, "step": step}
        for table, table_rows in measure_checkpoint(load_file(checkpoint), sample, seeds, step in matrix_steps):
            rows[table] += [{**names, **row} for row in table_rows]
        progress.update(number)
    for table, path in paths.items():
        write_table(table, rows[table], path)


def _sample(sorting: ListSorting, measure: Measure) -> Sample:
    """Return the sequences on which a condition's models are measured."""
    data, drawn = sorting.data, draw_lists(sorting.data)
    held_out = make_sequences(drawn.held_out[: measure.lists], data)
    training = make_sequences(drawn.train[: measure.mean_lists], data)
    return Sample(held_out, training, held_out[: measure.folded_lists], data.numbers, measure.seed)
