"""Spread of accuracies over seeds."""

from heuristic_core.common.roles import Input, Output
from heuristic_core.experiments.subnetworks.analysis.spread import compute_summary, compute_variance
from heuristic_core.experiments.subnetworks.jobs.parameters import StudyContext
from heuristic_core.tables.parquet import read_table, write_table


def measure_spread(
    accuracy: Input,
    group_accuracy: Input,
    context: StudyContext,
    summary: Output,
    variance: Output,
    components: Input | None = None,
    runs: Input | None = None,
) -> None:
    """Measure how accuracies spread over pruning seeds, over fine-tuning seeds, and over two runs of the same seed.

    Args:
        accuracy: Table of accuracies (Parquet).
        group_accuracy: Table of accuracies of groups (Parquet).
        context: A study's configuration file, or the context drawn from it as JSON.
        summary: Where to write means over seeds (Parquet).
        variance: Where to write variances (Parquet).
        components: Table of components, where there is one (Parquet).
        runs: Table of pruning runs, where there is one (Parquet).
    """
    rows, groups = read_table(accuracy), read_table(group_accuracy)
    outcomes = read_table(runs) if runs else None
    write_table("summary", compute_summary(rows, groups, context, outcomes), summary)
    kept = read_table(components) if components else None
    write_table("variance", compute_variance(rows, groups, context, kept), variance)
