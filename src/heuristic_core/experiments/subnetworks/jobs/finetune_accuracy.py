"""Accuracy over fine-tuning."""

from heuristic_core.common.roles import Input, Output
from heuristic_core.experiments.subnetworks.analysis.lesions import compute_lesion_accuracy
from heuristic_core.experiments.subnetworks.analysis.scores import ACCURACY_INPUTS, compute_finetune_accuracy
from heuristic_core.experiments.subnetworks.config.analysis import Analysis
from heuristic_core.tables.parquet import read_categorical, read_rows, write_table


def score_finetuning(predictions: Input, analysis: Analysis, table: Output) -> None:
    """Compute accuracies of the full model over fine-tuning, with intervals.

    Args:
        predictions: Predictions of every evaluation (Parquet).
        analysis: Settings of the analysis.
        table: Where to write accuracies (Parquet).
    """
    rows, a = read_categorical(predictions, ACCURACY_INPUTS), analysis
    write_table(
        "finetune_accuracy", compute_finetune_accuracy(rows, a.subsets, a.class_rule, a.bootstrap, a.seed), table
    )


def score_lesioned_finetuning(predictions: Input, heads: Input, analysis: Analysis, table: Output) -> None:
    """Compute accuracies of a lesioned model over fine-tuning, with intervals.

    Args:
        predictions: Predictions of every evaluation (Parquet).
        heads: Heads that were removed before fine-tuning (Parquet).
        analysis: Settings of the analysis.
        table: Where to write accuracies (Parquet).
    """
    (lesion,) = read_rows(heads)
    write_table(
        "lesion_accuracy",
        compute_lesion_accuracy(read_categorical(predictions, ACCURACY_INPUTS), lesion, analysis),
        table,
    )
