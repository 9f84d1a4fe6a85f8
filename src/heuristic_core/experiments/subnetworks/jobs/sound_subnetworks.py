"""Sound subnetworks: their pruning neither failed, collapsed nor missed its target."""

import logging
from typing import Literal

from heuristic_core.common.roles import Input, Output
from heuristic_core.experiments.subnetworks.analysis.outcomes import list_outcomes, mark_faults
from heuristic_core.experiments.subnetworks.analysis.runs import compute_chance, compute_runs
from heuristic_core.experiments.subnetworks.analysis.scores import compute_accuracies
from heuristic_core.experiments.subnetworks.config.analysis import Analysis
from heuristic_core.pruning.subnetwork import load_run
from heuristic_core.tables.columns import CELL, RUN, STEP, SUBSET
from heuristic_core.tables.parquet import as_frame, concatenate, to_matrix, write_table

COLUMNS = [*RUN, *STEP, *CELL, *SUBSET, "template", "label", "example", "correct", "correct_merged"]
LOGGER = logging.getLogger(__name__)


def select_sound_subnetworks(
    full: Input,
    subnetworks: list[Input],
    pruned: list[Input],
    trace_parts: list[Input],
    analysis: Analysis,
    components: Output,
    controller: Literal["sampled", "expected"] = "sampled",
) -> None:
    """Select the mid-sparsity sound subnetworks of one run, for the analyses of block `mechanism`.

    Others failed, collapsed or missed their target, as table "runs" says.

    Args:
        full: The full model's predictions (Parquet).
        subnetworks: The mid-sparsity subnetworks of the checkpoint (JSON).
        pruned: Predictions of each subnetwork (Parquet).
        trace_parts: The trace of each subnetwork's pruning (Parquet).
        analysis: Settings of the analysis.
        components: Where to write the components of sound subnetworks (Parquet).
        controller: Setting `prune.controller`.
    """
    predictions = concatenate("predictions", [full, *pruned])
    rows, logits = as_frame(predictions.select(COLUMNS)), to_matrix(predictions["logits"])
    results = list(map(load_run, subnetworks))
    settings = analysis.subsets, analysis.class_rule, analysis.bootstrap, analysis.seed
    _, groups, _ = compute_accuracies(rows, logits, *settings)
    traces = as_frame(concatenate("prune_trace", trace_parts))
    table = compute_runs(results, traces, groups, compute_chance(rows, analysis.subsets), controller)
    for outcome in list_outcomes(table):
        LOGGER.warning("left out: %s", outcome)
    faulty = mark_faults(table).any(axis="columns")
    sound = [row for result, bad in zip(results, faulty, strict=True) if not bad for row in result.rows()]
    write_table("components", sound, components)
