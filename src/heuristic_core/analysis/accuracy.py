"""Accuracy per subset, and its mean per group of subsets."""

from collections.abc import Collection

import pandas as pd

from heuristic_core.analysis.frames import frame
from heuristic_core.tables import ACCURACY, CELL, RUN, STEP, SUBSET


def percent_correct(predictions: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Columns `keys`, n (pairs) and accuracy (percent): a row for each value of `keys`, nulls included."""
    counts = predictions.groupby(keys, dropna=False)["correct"].agg(["size", "mean"]).reset_index()
    return counts.assign(n=counts["size"], accuracy=100 * counts["mean"])[[*keys, *ACCURACY]]


def accuracy(predictions: pd.DataFrame) -> pd.DataFrame:
    """Table "accuracy" from table "predictions": the share correct of every model on every subset.

    The full model is the rows without a pruning seed.
    """
    return frame("accuracy", percent_correct(predictions, [*RUN, *STEP, *CELL, *SUBSET]))


def chosen(rows: pd.DataFrame, subsets: Collection[str] | None) -> pd.DataFrame:
    """The rows of those subsets; all rows where `subsets` is None.

    Raises ValueError on a subset that no row has, naming those that exist.
    """
    if subsets is None:
        return rows
    existing = sorted(rows["subset"].dropna().unique())
    if unknown := [name for name in subsets if name not in existing]:
        raise ValueError(f"no subset {', '.join(map(repr, unknown))}; there are {', '.join(existing)}")
    return rows[rows["subset"].isin(list(subsets))]


def group_means(accuracy: pd.DataFrame, subsets: Collection[str] | None = None) -> pd.DataFrame:
    """Unweighted means over the subsets of each group, percent: every subset counts the same, whatever its size.

    accuracy: table "accuracy", "finetune_accuracy", or another with their columns for subsets and accuracies.
    subsets: those that enter the means; default all. A mean over a missing value is missing.
    Columns: the table's identity columns (all but those of subset and accuracy), group, accuracy.
    Raises ValueError on an unknown subset.
    """
    keys = [*accuracy.columns.drop([*SUBSET, *ACCURACY]), "group"]
    values = chosen(accuracy, subsets).groupby(keys, dropna=False)["accuracy"].agg(["size", "count", "mean"])
    # pandas leaves nulls out of a mean, which would compare models over different subsets.
    complete = values["mean"].where(values["count"] == values["size"])
    return complete.rename("accuracy").reset_index()
