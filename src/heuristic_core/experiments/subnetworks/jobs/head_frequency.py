"""Frequencies of heads in subnetworks."""

from heuristic_core.common.roles import Input, Output
from heuristic_core.experiments.subnetworks.analysis import clusters, core
from heuristic_core.experiments.subnetworks.analysis import core_seeds as core_seeds_analysis
from heuristic_core.experiments.subnetworks.analysis import frequency_agreement as agreement_analysis
from heuristic_core.experiments.subnetworks.analysis.rank_correlation import compute_rank_correlation
from heuristic_core.experiments.subnetworks.config.analysis import Analysis
from heuristic_core.experiments.subnetworks.jobs.parameters import StudyContext
from heuristic_core.tables.parquet import read_table, write_table


def measure_head_frequency(
    components: Input,
    analysis: Analysis,
    context: StudyContext,
    head_frequency: Output,
    rank_correlation: Output,
    core_seeds: Output,
    frequency_agreement: Output,
    mask_clusters: Output,
) -> None:
    """Count the subnetworks with each component, and measure how well sparsities and seeds agree on them.

    Args:
        components: Table of components (Parquet).
        analysis: Settings of the analysis.
        context: A study's configuration file, or the context drawn from it as JSON.
        head_frequency: Where to write frequencies (Parquet).
        rank_correlation: Where to write their correlation between sparsities (Parquet).
        core_seeds: Where to write the core's size by number of seeds (Parquet).
        frequency_agreement: Where to write the correlation within layers (Parquet).
        mask_clusters: Where to write whether the seeds' masks fall into clusters (Parquet).
    """
    rows, seed = read_table(components), analysis.seed
    write_table("head_frequency", core.compute_head_frequency(rows, context), head_frequency)
    correlation = compute_rank_correlation(rows, context, analysis.bootstrap, seed)
    write_table("rank_correlation", correlation, rank_correlation)
    write_table("core_seeds", core_seeds_analysis.compute_core_seeds(rows, context, seed), core_seeds)
    agreement = agreement_analysis.compute_frequency_agreement(rows, context, seed)
    write_table("frequency_agreement", agreement, frequency_agreement)
    write_table("mask_clusters", clusters.compute_mask_clusters(rows, context, seed), mask_clusters)
