"""Compare two studies of list sorting: the measures of models of the same conditions at their last step."""

import numpy as np
import pandas as pd
from scipy import stats

from heuristic_core.experiments.list_sorting.modes import select_last_step
from heuristic_core.experiments.list_sorting.tables import measure_limits
from heuristic_core.stats.frames import make_frame
from heuristic_core.stats.means import mean_interval
from heuristic_core.stats.seeds import CONFIDENCE_LEVEL

MEASURES = {
    "loss": "loss, nats",
    "token_accuracy": "token accuracy, 0-1",
    "list_accuracy": "list accuracy, 0-1",
    "entropy": "entropy, nats",
    "calibration_error": "calibration error, 0-1",
    "overlap": "overlap of heads, 0-1",
    "splitting": "vocabulary splitting, 0-1",
    "suppression": "copy suppression, share of what heads add",
    "folded_opposite_sign": "share of numbers with D of opposite sign, 0-1",
}
UNIT = "training seeds"


def compare(a: pd.DataFrame, b: pd.DataFrame) -> pd.DataFrame:
    """Return table "differences" of the conditions that have the same name in studies a and b.

    Values are means over training seeds with 95 % intervals, differences have Welch's intervals. Measures that a
    condition lacks, such as the overlap of a single head, are null, with the reason.

    Args:
        a: Table "sorting_models" of study a.
        b: The same table of study b.
    """
    ends = [select_last_step(table) for table in (a, b)]
    shared = [name for name in ends[0]["condition"].unique() if name in set(ends[1]["condition"])]
    rows = []
    for measure, quantity in MEASURES.items():
        for condition in shared:
            sides = [end[end["condition"] == condition] for end in ends]
            rows.append({"quantity": quantity, "group_or_subset": condition} | _row(*sides, measure))
    return make_frame("differences", rows)


def unshared_conditions(models: pd.DataFrame, others: pd.DataFrame) -> list[str]:
    """Return the conditions that another study lacks, which are not compared, in alphabetical order.

    Args:
        models: Table "sorting_models".
        others: Table "sorting_models" of the other study.
    """
    return sorted(set(models["condition"]) - set(others["condition"]))


def _row(a: pd.DataFrame, b: pd.DataFrame, measure: str) -> dict:
    """Return both means, the difference b - a and their intervals for one measure and condition."""
    row, samples = {"unit": UNIT, "reason": None}, []
    for side, rows in (("a", a), ("b", b)):
        values = rows[measure].dropna().to_numpy(dtype=float)
        mean, low, high = mean_interval(values, measure_limits(measure))
        row |= {side: mean, f"{side}_low": low, f"{side}_high": high, f"n_{side}": len(values)}
        row[f"step_{side}"] = int(rows["step"].iloc[0])
        samples.append(values)
    low, high, row["reason"] = _welch(*samples)
    return row | {"difference": row["b"] - row["a"], "low": low, "high": high}


def _welch(a: np.ndarray, b: np.ndarray) -> tuple[float, float, str | None]:
    """Return Welch's interval of the difference of two means, and the reason if there is none."""
    if not len(a) or not len(b):
        return np.nan, np.nan, "a side has no value"
    if len(a) < 2 or len(b) < 2:
        return np.nan, np.nan, "a side has one seed"
    if not a.var() + b.var():
        return np.nan, np.nan, "no seed differs from another of its side"
    return *stats.ttest_ind(b, a, equal_var=False).confidence_interval(CONFIDENCE_LEVEL), None
