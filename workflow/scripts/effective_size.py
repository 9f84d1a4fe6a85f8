"""Effective size of every checkpoint, from accuracies against sparsity."""

from heuristic_core.experiments.heuristic_core.analysis.effective_size import effective_size
from heuristic_core.experiments.heuristic_core.config.analysis import Analysis
from heuristic_core.experiments.heuristic_core.jobs.arguments import Arguments
from heuristic_core.provenance.record import recorded
from heuristic_core.tables.parquet import read_table, write_table


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.settings("analysis", Analysis)
    parser.context()
    parser.reads(accuracy="table of accuracies")
    parser.reads("?", runs="table of pruning runs, where there is one")
    parser.reads("?", groups="table of group accuracies, where AUC is known")
    parser.writes(table="where to write effective sizes")
    args = parser.read(arguments)
    runs = read_table(args.runs) if args.runs else None
    groups = read_table(args.groups) if args.groups else None
    sizes = effective_size(read_table(args.accuracy), args.analysis, args.context, runs, groups)
    write_table("effective_size", sizes, args.table)


if __name__ == "__main__":
    recorded(main)
