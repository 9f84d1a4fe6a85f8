"""Which heads the subnetworks share: frequencies, the core, its size against chance, and rank correlation."""

from heuristic_core.analysis.core import core, core_null, head_frequency, rank_correlation
from heuristic_core.arguments import Arguments
from heuristic_core.config.blocks import Analysis
from heuristic_core.tables import read_table, write_table


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.settings("analysis", Analysis)
    parser.context()
    parser.files(
        components="table of components",
        head_frequency="where to write frequencies",
        core="where to write the core",
        core_null="where to write its size against chance",
        rank_correlation="where to write the correlation between sparsities",
    )
    args = parser.read(arguments)
    components, context, analysis = read_table(args.components), args.context, args.analysis
    frequency = head_frequency(components, context)
    write_table("head_frequency", frequency, args.head_frequency)
    write_table("core", core(components, context), args.core)
    write_table("core_null", core_null(components, context, analysis.permutations, analysis.seed), args.core_null)
    correlation = rank_correlation(frequency, context.last, context.mid, context.high)
    write_table("rank_correlation", correlation, args.rank_correlation)


if __name__ == "__main__":
    main()
