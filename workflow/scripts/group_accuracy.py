"""Means of accuracy over the subsets of each group, and J of each family, for studies that have no predictions."""

from heuristic_core.experiments.heuristic_core.analysis.accuracy import family_scores_of, group_accuracy_of
from heuristic_core.experiments.heuristic_core.config.analysis import Analysis
from heuristic_core.jobs.arguments import Arguments
from heuristic_core.provenance.record import recorded
from heuristic_core.tables.parquet import read_table, write_table


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.settings("analysis", Analysis)
    parser.reads(accuracy="table of accuracies")
    parser.writes(table="where to write the means", family_scores="where to write J of families of subsets")
    args = parser.read(arguments)
    accuracy, subsets = read_table(args.accuracy), args.analysis.subsets
    write_table("group_accuracy", group_accuracy_of(accuracy, subsets), args.table)
    write_table("family_scores", family_scores_of(accuracy, subsets), args.family_scores)


if __name__ == "__main__":
    recorded(main)
