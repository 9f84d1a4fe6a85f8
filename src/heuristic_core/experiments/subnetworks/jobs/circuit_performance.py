"""CPR and CMD."""

from heuristic_core.common.roles import Input, Output
from heuristic_core.experiments.subnetworks.analysis.circuit_performance import compute_circuit_performance
from heuristic_core.experiments.subnetworks.config.analysis import Analysis
from heuristic_core.experiments.subnetworks.jobs.parameters import StudyContext
from heuristic_core.tables.parquet import read_table, write_table


def measure_circuit_performance(
    group_accuracy: Input,
    empty_circuit: Input,
    runs: Input,
    analysis: Analysis,
    context: StudyContext,
    table: Output,
) -> None:
    """Compute CPR and CMD of every checkpoint, from accuracies against sparsity and the empty circuit's.

    Args:
        group_accuracy: Table of group accuracies (Parquet).
        empty_circuit: Table of the empty circuits' accuracies (Parquet).
        runs: Table of pruning runs (Parquet).
        analysis: Settings of the analysis.
        context: A study's configuration file, or the context drawn from it as JSON.
        table: Where to write CPR and CMD (Parquet).
    """
    tables = [read_table(path) for path in (group_accuracy, empty_circuit, runs)]
    write_table("circuit_performance", compute_circuit_performance(*tables, analysis, context), table)
