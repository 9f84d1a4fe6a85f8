"""Compute accuracy and log odds by subset, group and family without intervals, for analyses of many models."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pandas as pd

from heuristic_core.experiments.subnetworks.analysis.ablations import MAX_LOG_ODDS
from heuristic_core.experiments.subnetworks.analysis.accuracy import ID, RULES, aggregate, compute_j, select_subsets

VALUES = ["accuracy", "log_odds"]


def average_by_subset(predictions: Mapping[str, np.ndarray] | pd.DataFrame, rule: str) -> pd.DataFrame:
    """Average one model's predictions by subset.

    Args:
        predictions: Columns of table "predictions".
        rule: ``analysis.class_rule``.

    Returns:
        Columns subset, group, family, n, accuracy (percent) and log_odds (of the true label, nats, clipped to +-30 for
        each pair).
    """
    columns = {name: predictions[name] for name in ("subset", "group", "family")}
    rows = pd.DataFrame(columns).assign(
        accuracy=100.0 * np.asarray(predictions[RULES[rule]]),
        log_odds=np.clip(np.asarray(predictions["log_odds"], dtype=float), -MAX_LOG_ODDS, MAX_LOG_ODDS),
    )
    groups = rows.groupby(["subset", "group", "family"], dropna=False, sort=False, observed=True)
    return groups.agg(
        n=("accuracy", "size"), accuracy=("accuracy", "mean"), log_odds=("log_odds", "mean")
    ).reset_index()


def compute_id_accuracy(
    predictions: Mapping[str, np.ndarray] | pd.DataFrame, rule: str, subsets: Collection[str] | None
) -> float:
    """Compute the unweighted mean of one model's accuracy over ID subsets, percent; NaN if there are none.

    Args:
        predictions: Columns of table "predictions".
        rule: ``analysis.class_rule``.
        subsets: Subsets that enter the mean; None for all.
    """
    rows = select_subsets(average_by_subset(predictions, rule), subsets)
    return float(rows.loc[rows["group"] == ID, "accuracy"].mean())


def append_means(rows: pd.DataFrame, keys: Sequence[str], subsets: Collection[str] | None = None) -> pd.DataFrame:
    """Append means over groups and families, and J, to rows of :func:`average_by_subset` of many models.

    Args:
        rows: Rows of :func:`average_by_subset` with the columns `keys`.
        keys: Columns that identify a model.
        subsets: Subsets that enter means; None for all.

    Returns:
        The columns `keys`, subset, group, family, n, accuracy and log_odds. Means over a group have neither subset nor
        family, means over a family's group have a family. Group "j" is J, points, of a model and of each family; it has
        no log odds.
    """
    selected, keys = select_subsets(rows, subsets), [*keys]
    in_family = selected[selected["family"].notna()]
    means = [
        _means(selected, [*keys, "group"]),
        _means(in_family, [*keys, "group", "family"]),
        compute_j(selected, keys),
        compute_j(in_family, [*keys, "family"]),
    ]
    return pd.concat([rows, *(part for part in means if len(part))], ignore_index=True)


def _means(rows: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Average `VALUES` by `keys`, and sum n."""
    sizes = rows.groupby(keys, observed=True)["n"].sum().reset_index()
    return aggregate(rows, keys, VALUES).merge(sizes, on=keys)
