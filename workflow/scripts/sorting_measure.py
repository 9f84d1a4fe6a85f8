"""Measure every checkpoint of the models of one condition: losses, circuits of heads, and ablations."""

from collections import defaultdict

from safetensors.torch import load_file

from heuristic_core.common.progress import Progress
from heuristic_core.common.threads import use_threads
from heuristic_core.experiments.list_sorting.config import ListSorting
from heuristic_core.experiments.list_sorting.data import lists, sequences
from heuristic_core.experiments.list_sorting.measuring import Sample, measured
from heuristic_core.experiments.list_sorting.results import MEASURED
from heuristic_core.experiments.list_sorting.study import Measure, evenly
from heuristic_core.experiments.list_sorting.tables import SORTING
from heuristic_core.jobs.arguments import Arguments
from heuristic_core.provenance.record import recorded
from heuristic_core.tables.parquet import write_table


def main(arguments=None):
    """Run the job."""
    parser = Arguments(__doc__)
    parser.settings("sorting", ListSorting)
    parser.settings("measure", Measure)
    parser.add_argument("--study", required=True, help="name of the study")
    parser.add_argument("--condition", required=True, help="name of the condition")
    parser.reads("+", checkpoints="weights, a file for each kept step")
    parser.writes(**{name: f"where to write table sorting_{name}" for name in MEASURED})
    parser.one_each("sorting.training.kept", "checkpoints")
    args = parser.read(arguments)
    use_threads(1)
    study, settings, kept = args.sorting, args.measure, args.sorting.training.kept
    drawn, matrix_steps = lists(study.data), evenly(kept, settings.matrices)
    held_out = sequences(drawn.held_out[: settings.lists], study.data)
    training = sequences(drawn.train[: settings.mean_lists], study.data)
    sample = Sample(held_out, training, held_out[: settings.folded_lists], study.data.numbers, settings.seed)
    rows, progress = defaultdict(list), Progress("measure", len(kept))
    for number, (step, path) in enumerate(zip(kept, args.checkpoints, strict=True), 1):
        names = {"study": args.study, "condition": args.condition, "step": step}
        for table, table_rows in measured(load_file(path), sample, study.training.seeds, step in matrix_steps):
            rows[table] += [{**names, **row} for row in table_rows]
        progress.at(number)
    for name in MEASURED:
        columns = list(SORTING[f"sorting_{name}"])
        ordered = [{column: row[column] for column in columns} for row in rows[f"sorting_{name}"]]
        write_table(f"sorting_{name}", ordered, getattr(args, name))


if __name__ == "__main__":
    recorded(main)
