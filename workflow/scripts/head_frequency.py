"""In how many subnetworks each component is, how well sparsities and seeds agree on it, and whether masks compete."""

from heuristic_core.experiments.heuristic_core.analysis.clusters import mask_clusters
from heuristic_core.experiments.heuristic_core.analysis.core import head_frequency
from heuristic_core.experiments.heuristic_core.analysis.core_seeds import core_seeds
from heuristic_core.experiments.heuristic_core.analysis.frequency_agreement import frequency_agreement
from heuristic_core.experiments.heuristic_core.analysis.rank_correlation import rank_correlation
from heuristic_core.experiments.heuristic_core.config.analysis import Analysis
from heuristic_core.experiments.heuristic_core.jobs.arguments import Arguments
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
        frequency_agreement="where to write the same within layers",
        mask_clusters="where to write whether the seeds' masks fall into clusters",
    )
    args = parser.read(arguments)
    components, context, analysis = read_table(args.components), args.context, args.analysis
    write_table("head_frequency", head_frequency(components, context), args.head_frequency)
    correlation = rank_correlation(components, context, analysis.bootstrap, analysis.seed)
    write_table("rank_correlation", correlation, args.rank_correlation)
    write_table("core_seeds", core_seeds(components, context, analysis.seed), args.core_seeds)
    agreement = frequency_agreement(components, context, analysis.seed)
    write_table("frequency_agreement", agreement, args.frequency_agreement)
    write_table("mask_clusters", mask_clusters(components, context, analysis.seed), args.mask_clusters)


if __name__ == "__main__":
    recorded(main)
