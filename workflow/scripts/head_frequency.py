"""In how many subnetworks each component is, and how well the two sparsities and more seeds agree on it."""

from heuristic_core.analysis.core import head_frequency
from heuristic_core.analysis.core_seeds import core_seeds
from heuristic_core.analysis.rank_correlation import rank_correlation
from heuristic_core.config.analysis import Analysis
from heuristic_core.jobs.arguments import Arguments
from heuristic_core.provenance.record import recorded
from heuristic_core.tables.parquet import read_table, write_table


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.context()
    parser.settings("analysis", Analysis)
    parser.reads(components="table of components")
    parser.writes(
        head_frequency="where to write frequencies",
        rank_correlation="where to write their correlation between sparsities",
        core_seeds="where to write the core's size by number of seeds",
    )
    args = parser.read(arguments)
    components, context, analysis = read_table(args.components), args.context, args.analysis
    write_table("head_frequency", head_frequency(components, context), args.head_frequency)
    correlation = rank_correlation(components, context, analysis.bootstrap, analysis.seed)
    write_table("rank_correlation", correlation, args.rank_correlation)
    write_table("core_seeds", core_seeds(components, context, analysis.seed), args.core_seeds)


if __name__ == "__main__":
    recorded(main)
