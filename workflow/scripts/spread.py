"""How accuracies spread over pruning seeds, over fine-tuning seeds, and over two runs of the same seed."""

from heuristic_core.experiments.heuristic_core.analysis.spread import summary, variance
from heuristic_core.experiments.heuristic_core.jobs.arguments import Arguments
from heuristic_core.provenance.record import recorded
from heuristic_core.tables.parquet import read_table, write_table


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.context()
    parser.reads(
        accuracy="table of accuracies",
        group_accuracy="table of accuracies of groups",
    )
    parser.reads("?", components="table of components, where there is one")
    parser.writes(
        summary="where to write means over seeds",
        variance="where to write variances",
    )
    args = parser.read(arguments)
    accuracy, groups = read_table(args.accuracy), read_table(args.group_accuracy)
    components = read_table(args.components) if args.components else None
    write_table("summary", summary(accuracy, groups, args.context), args.summary)
    write_table("variance", variance(accuracy, groups, args.context, components), args.variance)


if __name__ == "__main__":
    recorded(main)
