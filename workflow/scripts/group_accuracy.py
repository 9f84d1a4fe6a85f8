"""Means of accuracy over the subsets of each group, for studies that have no predictions."""

from heuristic_core.analysis.accuracy import group_accuracy_of
from heuristic_core.config.analysis import Analysis
from heuristic_core.jobs.arguments import Arguments
from heuristic_core.provenance.record import recorded
from heuristic_core.tables.parquet import read_table, write_table


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.settings("analysis", Analysis)
    parser.reads(accuracy="table of accuracies")
    parser.writes(table="where to write the means")
    args = parser.read(arguments)
    write_table("group_accuracy", group_accuracy_of(read_table(args.accuracy), args.analysis.subsets), args.table)


if __name__ == "__main__":
    recorded(main)
