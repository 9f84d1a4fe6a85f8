"""Accuracies of groups of subsets, without predictions."""

from heuristic_core.common.roles import Input, Output
from heuristic_core.experiments.subnetworks.analysis.accuracy import compute_family_scores, compute_group_accuracy
from heuristic_core.experiments.subnetworks.config.analysis import Analysis
from heuristic_core.tables.parquet import read_table, write_table


def average_groups(accuracy: Input, analysis: Analysis, table: Output, family_scores: Output) -> None:
    """Average accuracy over the subsets of each group, and compute J of each family, of studies without predictions.

    Args:
        accuracy: Table of accuracies (Parquet).
        analysis: Settings of the analysis.
        table: Where to write the means (Parquet).
        family_scores: Where to write J of families of subsets (Parquet).
    """
    rows = read_table(accuracy)
    write_table("group_accuracy", compute_group_accuracy(rows, analysis.subsets), table)
    write_table("family_scores", compute_family_scores(rows, analysis.subsets), family_scores)
