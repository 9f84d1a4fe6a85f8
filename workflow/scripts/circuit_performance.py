"""CPR and CMD of every checkpoint, from accuracies against sparsity and the empty circuit's."""

from heuristic_core.experiments.heuristic_core.analysis.circuit_performance import circuit_performance
from heuristic_core.experiments.heuristic_core.config.analysis import Analysis
from heuristic_core.experiments.heuristic_core.jobs.arguments import Arguments
from heuristic_core.provenance.record import recorded
from heuristic_core.tables.parquet import read_table, write_table


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.settings("analysis", Analysis)
    parser.context()
    parser.reads(
        group_accuracy="table of group accuracies",
        empty_circuit="table of the empty circuits' accuracies",
        runs="table of pruning runs",
    )
    parser.writes(table="where to write CPR and CMD")
    args = parser.read(arguments)
    read = [read_table(path) for path in (args.group_accuracy, args.empty_circuit, args.runs)]
    write_table("circuit_performance", circuit_performance(*read, args.analysis, args.context), args.table)


if __name__ == "__main__":
    recorded(main)
