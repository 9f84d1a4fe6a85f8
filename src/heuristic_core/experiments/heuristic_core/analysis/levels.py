"""How well a model does on every subset, group and family, without intervals: for analyses of many models."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pandas as pd

from heuristic_core.experiments.heuristic_core.analysis.ablations import CERTAIN
from heuristic_core.experiments.heuristic_core.analysis.accuracy import ID, RULES, chosen, condensed, j_means

VALUES = ["accuracy", "log_odds"]


def by_subset(predictions: Mapping[str, np.ndarray] | pd.DataFrame, rule: str) -> pd.DataFrame:
    """One row for each subset of one model's predictions: subset, group, family, n, accuracy and log_odds.

    accuracy: percent. rule: ``analysis.class_rule``. log_odds: the mean of the true label's,
    nats, clipped to +-30 for each pair.
    """
    columns = {name: predictions[name] for name in ("subset", "group", "family")}
    rows = pd.DataFrame(columns).assign(
        accuracy=100.0 * np.asarray(predictions[RULES[rule]]),
        log_odds=np.clip(np.asarray(predictions["log_odds"], dtype=float), -CERTAIN, CERTAIN),
    )
    found = rows.groupby(["subset", "group", "family"], dropna=False, sort=False, observed=True)
    return found.agg(n=("accuracy", "size"), accuracy=("accuracy", "mean"), log_odds=("log_odds", "mean")).reset_index()


def id_accuracy(
    predictions: Mapping[str, np.ndarray] | pd.DataFrame, rule: str, subsets: Collection[str] | None
) -> float:
    """The unweighted mean over ID subsets of one model's accuracy, percent; NaN without any.

    rule: ``analysis.class_rule``. subsets: the subsets that enter means; None for all.
    """
    rows = chosen(by_subset(predictions, rule), subsets)
    return float(rows.loc[rows["group"] == ID, "accuracy"].mean())


def levels(rows: pd.DataFrame, keys: Sequence[str], subsets: Collection[str] | None = None) -> pd.DataFrame:
    """`rows` of :func:`by_subset` of many models, followed by their means over groups and families, and by J.

    keys: columns of `rows` that tell models apart. subsets: the subsets that enter means; None for all.
    A mean over a group's subsets has neither subset nor family, a mean over a family's has its family. Group "j" is J,
    points, of a model and of each family; it has no log odds. Columns: keys, subset, group, family, n, accuracy,
    log_odds.
    """
    entering, keys = chosen(rows, subsets), [*keys]
    of_family = entering[entering["family"].notna()]
    means = [
        _means(entering, [*keys, "group"]),
        _means(of_family, [*keys, "group", "family"]),
        j_means(entering, keys),
        j_means(of_family, [*keys, "family"]),
    ]
    return pd.concat([rows, *(part for part in means if len(part))], ignore_index=True)


def _means(rows: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    sizes = rows.groupby(keys, observed=True)["n"].sum().reset_index()
    return condensed(rows, keys, VALUES).merge(sizes, on=keys)
