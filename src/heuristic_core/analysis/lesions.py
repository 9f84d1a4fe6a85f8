"""Accuracy of models that were fine-tuned without some heads."""

from collections.abc import Mapping

import pandas as pd

from heuristic_core.analysis.frames import frame
from heuristic_core.analysis.scores import finetune_accuracy


def lesion_accuracy(predictions: pd.DataFrame, lesion: Mapping, rule: str, bootstrap: int, seed: int) -> pd.DataFrame:
    """Table "lesion_accuracy" of one run from its predictions, and its row of table "lesions"; empty without any."""
    if predictions.empty:
        return frame("lesion_accuracy", [])
    table = finetune_accuracy(predictions, rule, bootstrap, seed)
    heads = [lesion["heads"]] * len(table)
    return frame("lesion_accuracy", table.assign(lesion=lesion["lesion"], heads=heads, size=lesion["size"]))
