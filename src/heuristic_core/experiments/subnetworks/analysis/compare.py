"""Compare two studies: differences of their results, with intervals.

Intervals of differences treat both sides as independent. Models that share evaluation pairs and runs that share a
pruning seed are positively correlated, so their intervals are conservative.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from heuristic_core.experiments.subnetworks.analysis.names import subset_label
from heuristic_core.experiments.subnetworks.analysis.study_values import (
    FULL_ACCURACY,
    SUBNETWORK_ACCURACY,
    Key,
    StudyValue,
    Tables,
    iter_values,
)
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.stats.bootstrap import difference_interval
from heuristic_core.stats.frames import make_frame
from heuristic_core.stats.seeds import welch_interval


def compare(a: Tables, b: Tables, context_a: Context, context_b: Context) -> pd.DataFrame:
    """Compute table "differences" of studies a and b.

    A study with one fine-tuning run contributes the results of this run, with intervals over its pairs, templates or
    pruning seeds; a study with several runs contributes means over runs, with intervals over runs.

    Subsets of only one study are left out. If the tasks differ, all subsets are: equal names may mean different pairs.
    Other results that a study lacks are null, with a reason, as are differences between results at different sparsities
    (if "mid" is 20 % in one study and 10 % in the other) and intervals that cover all possible values.

    Args:
        a: Tables of study a by name.
        b: Tables of study b by name.
        context_a: Facts about study a.
        context_b: Facts about study b.
    """
    values_a, values_b = dict(iter_values(a, context_a)), dict(iter_values(b, context_b))
    unshared = (
        {*find_unshared_subsets(a, b), *find_unshared_subsets(b, a)} if same_task(a, b) else _subsets(a) | _subsets(b)
    )
    labels = set(map(subset_label, unshared))
    subset_quantities = (FULL_ACCURACY, SUBNETWORK_ACCURACY)
    keys = [key for key in values_a | values_b if not (key.quantity in subset_quantities and key.label in labels)]
    return make_frame("differences", [_difference_row(key, values_a, values_b) for key in keys])


def same_task(a: Tables, b: Tables) -> bool:
    """Return whether both studies were evaluated on a task of the same name.

    Args:
        a: Tables of one study by name; column `task` of "accuracy" is read, if there is this table.
        b: Tables of the other study by name.
    """
    tasks = [set(tables["accuracy"]["task"]) if "accuracy" in tables else set() for tables in (a, b)]
    return tasks[0] == tasks[1]


def find_unshared_subsets(tables: Tables, others: Tables) -> list[str]:
    """Return the subsets that one study has and another one lacks; they are not compared.

    Args:
        tables: Tables of a study by name.
        others: Tables of another study by name.

    Returns:
        Names of the subsets of `tables` that `others` lack, in alphabetical order.
    """
    return sorted(_subsets(tables) - _subsets(others))


def _subsets(tables: Tables) -> set[str]:
    return set(tables["accuracy"]["subset"].dropna()) if "accuracy" in tables else set()


def _difference_row(key: Key, values_a: Mapping[Key, StudyValue], values_b: Mapping[Key, StudyValue]) -> dict:
    a, b = (values.get(key, StudyValue(reason="not in its tables")) for values in (values_a, values_b))
    reasons = [f"{side}: {estimate.reason}" for side, estimate in (("a", a), ("b", b)) if estimate.reason]
    difference, (low, high) = b.value - a.value, (np.nan, np.nan)
    if a.sparsities and b.sparsities and a.sparsities != b.sparsities:
        difference, reasons = np.nan, [*reasons, _sparsity_mismatch(a.sparsities, b.sparsities)]
    else:
        low, high = (
            difference_interval(a[:3], b[:3])
            if np.isinf([a.df, b.df]).all()
            else welch_interval(*((side.value, side.se, side.df) for side in (a, b)))
        )
        least, most = key.value_range
        if not reasons and np.isnan(low):
            reasons = [f"no interval: {_missing_interval_reason(a, b)}"]
        elif _covers_range(low, high, least - most, most - least):
            reasons.append(
                f"no interval: it would be {_format_interval(low, high)}, beyond all that is possible; n is too small"
            )
            low, high = np.nan, np.nan
    ends = {}
    for side, estimate in (("a", a), ("b", b)):
        ends |= {f"{side}_low": estimate.low, f"{side}_high": estimate.high}
        if _covers_range(estimate.low, estimate.high, *key.value_range):
            reasons.append(f"{side}: its interval would be {_format_interval(estimate.low, estimate.high)}")
            ends |= {f"{side}_low": np.nan, f"{side}_high": np.nan}
    return {
        "quantity": key.quantity, "group_or_subset": key.label, "sparsity_role": key.sparsity,
        "sparsity_a": _single_sparsity(a.sparsities), "sparsity_b": _single_sparsity(b.sparsities),
        "step_a": a.step, "step_b": b.step,
        "a": a.value, "b": b.value, **ends,
        "difference": difference, "low": low, "high": high,
        "unit": a.unit if a.unit == b.unit else f"a: {a.unit or 'none'}; b: {b.unit or 'none'}",
        "n_a": a.n, "n_b": b.n, "reason": "; ".join(reasons) or None,
    }  # fmt: skip


def _covers_range(low: float, high: float, least: float, most: float) -> bool:
    return bool(low < least and high > most)


def _format_interval(low: float, high: float) -> str:
    return f"{low:.0f} to {high:.0f}".replace("-", "−")


def _sparsity_mismatch(a: tuple[float, ...], b: tuple[float, ...]) -> str:
    text_a, text_b = (" and ".join(f"{100 * sparsity:g} %" for sparsity in sparsities) for sparsities in (a, b))
    return f"not compared: a at {text_a} sparsity, b at {text_b}"


def _single_sparsity(sparsities: tuple[float, ...]) -> float:
    return sparsities[0] if len(sparsities) == 1 else np.nan


def _missing_interval_reason(a: StudyValue, b: StudyValue) -> str:
    without = " and ".join(side for side, estimate in (("a", a), ("b", b)) if np.isnan(estimate.se))
    return f"{without} without one" if without else "no spread on either side"
