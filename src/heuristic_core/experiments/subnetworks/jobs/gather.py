"""Results of one checkpoint."""

import logging
from typing import Literal

from heuristic_core.common.roles import Input, Output
from heuristic_core.experiments.subnetworks.analysis.batched_scores import score_in_batches
from heuristic_core.experiments.subnetworks.analysis.outcomes import list_outcomes
from heuristic_core.experiments.subnetworks.analysis.runs import END_COLUMNS, compute_runs
from heuristic_core.experiments.subnetworks.config.analysis import Analysis
from heuristic_core.pruning.subnetwork import FailedRun, load_run
from heuristic_core.tables.columns import CELL
from heuristic_core.tables.parquet import as_frame, concatenate, write_joined, write_table

LOGGER = logging.getLogger(__name__)


def gather_checkpoint(
    full: Input,
    analysis: Analysis,
    predictions: Output,
    accuracy: Output,
    group_accuracy: Output,
    family_scores: Output,
    components: Output,
    traces: Output,
    runs: Output,
    subnetworks: list[Input] = (),
    pruned: list[Input] = (),
    trace_parts: list[Input] = (),
    controller: Literal["sampled", "expected"] = "sampled",
) -> None:
    """Gather one checkpoint's results: predictions, accuracies, components and pruning traces of all its subnetworks.

    A pruning run that failed has null accuracies with its reason, and no components.

    Args:
        full: The full model's predictions (Parquet).
        analysis: Settings of the analysis.
        predictions: Where to write all predictions (Parquet).
        accuracy: Where to write accuracies (Parquet).
        group_accuracy: Where to write accuracies of groups of subsets (Parquet).
        family_scores: Where to write J and AUC of families of subsets (Parquet).
        components: Where to write components (Parquet).
        traces: Where to write pruning traces (Parquet).
        runs: Where to write the outcome of each pruning run (Parquet).
        subnetworks: The subnetworks (JSON).
        pruned: Predictions of each subnetwork (Parquet).
        trace_parts: The trace of each subnetwork's pruning (Parquet).
        controller: Setting `prune.controller`.
    """
    write_joined("predictions", [full, *pruned], predictions)
    results = list(map(load_run, subnetworks))
    failed = [result for result in results if isinstance(result, FailedRun)]
    (subset_rows, group_rows, family_rows), chance = score_in_batches(full, pruned, analysis, failed)
    write_table("accuracy", subset_rows, accuracy)
    write_table("group_accuracy", group_rows, group_accuracy)
    write_table("family_scores", family_rows, family_scores)
    write_table("components", [row for result in results for row in result.rows()], components)
    trace_rows = concatenate("prune_trace", trace_parts)
    write_table("prune_trace", trace_rows, traces)
    table = compute_runs(results, as_frame(trace_rows.select([*CELL, *END_COLUMNS])), group_rows, chance, controller)
    write_table("runs", table, runs)
    for outcome in list_outcomes(table):
        LOGGER.warning("%s", outcome)
