"""Learned subnetworks against controls."""

import pandas as pd

from heuristic_core.common.roles import Input, Output
from heuristic_core.experiments.subnetworks.analysis.controls import compute_controls, draw_pairs
from heuristic_core.experiments.subnetworks.config.analysis import Analysis
from heuristic_core.experiments.subnetworks.jobs.parameters import StudyContext
from heuristic_core.tables.parquet import read_table, write_table


def compare_with_controls(
    learned: list[Input], predictions: Input, runs: Input, analysis: Analysis, context: StudyContext, table: Output
) -> None:
    """Compare learned subnetworks with random and gradient-importance ones, on the same pairs.

    Args:
        learned: Predictions of the learned subnetworks (Parquet).
        predictions: Predictions of the controls (Parquet).
        runs: Table of pruning runs (Parquet).
        analysis: Settings of the analysis.
        context: A study's configuration file, or the context drawn from it as JSON.
        table: Where to write accuracies and differences (Parquet).
    """
    tables = (read_table(path, without=["logits"]) for path in (*learned, predictions))
    settings = analysis.control_pairs, analysis.seed, analysis.class_rule
    drawn = pd.concat([draw_pairs(rows, *settings) for rows in tables])
    write_table("controls", compute_controls(drawn, analysis, read_table(runs), context), table)
