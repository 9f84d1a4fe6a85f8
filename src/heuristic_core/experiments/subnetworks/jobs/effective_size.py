"""Effective size."""

from heuristic_core.common.roles import Input, Output
from heuristic_core.experiments.subnetworks.analysis.effective_size import compute_effective_size
from heuristic_core.experiments.subnetworks.config.analysis import Analysis
from heuristic_core.experiments.subnetworks.jobs.parameters import StudyContext
from heuristic_core.tables.parquet import read_table, write_table


def measure_effective_size(
    accuracy: Input,
    analysis: Analysis,
    context: StudyContext,
    table: Output,
    runs: Input | None = None,
    groups: Input | None = None,
) -> None:
    """Compute the effective size of every checkpoint, from accuracies against sparsity.

    Args:
        accuracy: Table of accuracies (Parquet).
        analysis: Settings of the analysis.
        context: A study's configuration file, or the context drawn from it as JSON.
        table: Where to write effective sizes (Parquet).
        runs: Table of pruning runs, where there is one (Parquet).
        groups: Table of group accuracies, where AUC is known (Parquet).
    """
    optional = [read_table(path) if path else None for path in (runs, groups)]
    write_table("effective_size", compute_effective_size(read_table(accuracy), analysis, context, *optional), table)
