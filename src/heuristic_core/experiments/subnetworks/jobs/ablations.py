"""Costs of ablation."""

from dataclasses import replace

from heuristic_core.common.roles import Input, Output
from heuristic_core.experiments.subnetworks.analysis.ablation_cells import read_by_model
from heuristic_core.experiments.subnetworks.analysis.ablations import compute_ablations
from heuristic_core.experiments.subnetworks.analysis.triples import compute_triples
from heuristic_core.experiments.subnetworks.config.analysis import Analysis
from heuristic_core.tables.parquet import read_table, write_table


def measure_ablations(predictions: Input, sets: Input, analysis: Analysis, table: Output, triples: Output) -> None:
    """Measure what ablating heads costs.

    Args:
        predictions: Predictions of every ablation (Parquet).
        sets: The ablated sets (Parquet).
        analysis: Settings of the analysis.
        table: Where to write accuracies and changes (Parquet).
        triples: Where to write those of the strongest three heads, on pairs that did not choose them (Parquet).
    """
    cells, rows = read_by_model(predictions), read_table(sets)
    scoring = analysis.subsets, analysis.class_rule, analysis.bootstrap, analysis.seed
    write_table("triples", compute_triples(cells, rows, *scoring), triples)
    read_once = {model: replace(model_cells, drop_after_read=True) for model, model_cells in cells.items()}
    write_table("ablations", compute_ablations(read_once, rows, *scoring), table)
