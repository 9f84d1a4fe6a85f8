"""Accuracies of a lesioned model over fine-tuning, with intervals, from its predictions."""

from heuristic_core.experiments.heuristic_core.analysis.lesions import lesion_accuracy
from heuristic_core.experiments.heuristic_core.analysis.scores import PASSING
from heuristic_core.experiments.heuristic_core.config.analysis import Analysis
from heuristic_core.jobs.arguments import Arguments
from heuristic_core.provenance.record import recorded
from heuristic_core.tables.parquet import read_coded, read_rows, write_table


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.settings("analysis", Analysis)
    parser.reads(
        predictions="predictions of every evaluation",
        heads="which heads were taken out",
    )
    parser.writes(table="where to write accuracies")
    args = parser.read(arguments)
    (lesion,), a = read_rows(args.heads), args.analysis
    rows = read_coded(args.predictions, PASSING)
    write_table("lesion_accuracy", lesion_accuracy(rows, lesion, a), args.table)


if __name__ == "__main__":
    recorded(main)
