"""In how many subnetworks each component is, and the rank correlation of these counts between the two sparsities."""

from heuristic_core.analysis.core import head_frequency, rank_correlation
from heuristic_core.arguments import Arguments
from heuristic_core.tables import read_table, write_table


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.context()
    parser.files(
        components="table of components",
        head_frequency="where to write frequencies",
        rank_correlation="where to write the correlation",
    )
    args = parser.read(arguments)
    frequency, context = head_frequency(read_table(args.components), args.context), args.context
    write_table("head_frequency", frequency, args.head_frequency)
    correlation = rank_correlation(frequency, context.last, context.mid, context.high)
    write_table("rank_correlation", correlation, args.rank_correlation)


if __name__ == "__main__":
    main()
