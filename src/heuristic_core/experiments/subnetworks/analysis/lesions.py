"""Compute the accuracy of models that were fine-tuned without some of their heads."""

from collections.abc import Mapping

import pandas as pd

from heuristic_core.experiments.subnetworks.analysis.scores import compute_finetune_accuracy
from heuristic_core.experiments.subnetworks.config.analysis import Analysis
from heuristic_core.stats.frames import make_frame


def compute_lesion_accuracy(predictions: pd.DataFrame, lesion: Mapping, analysis: Analysis) -> pd.DataFrame:
    """Compute table "lesion_accuracy" of one run; it is empty if there are no predictions.

    Args:
        predictions: Table "predictions" of the run.
        lesion: Row of table "lesions" of the run.
        analysis: Settings `analysis`.
    """
    if predictions.empty:
        return make_frame("lesion_accuracy", [])
    scoring = analysis.subsets, analysis.class_rule, analysis.bootstrap, analysis.seed
    table = compute_finetune_accuracy(predictions, *scoring)
    heads = [lesion["heads"]] * len(table)
    return make_frame("lesion_accuracy", table.assign(lesion=lesion["lesion"], heads=heads, size=lesion["size"]))
