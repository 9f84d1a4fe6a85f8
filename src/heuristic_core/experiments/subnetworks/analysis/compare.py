"""Compare two studies: differences of their results, with intervals.

Intervals of differences treat both sides as independent. Models that share evaluation pairs and runs that share a
pruning seed are positively correlated, so their intervals are conservative.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from heuristic_core.experiments.subnetworks.analysis.accuracy import AUC, ENTAILMENT, ID, OOD, J
from heuristic_core.experiments.subnetworks.analysis.effective_size import extra_half_width, select_study_sizes
from heuristic_core.experiments.subnetworks.analysis.names import subset_label
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.stats.bootstrap import difference_interval
from heuristic_core.stats.frames import make_frame
from heuristic_core.stats.means import mean_interval, widen
from heuristic_core.stats.seeds import (
    CONFIDENCE_LEVEL,
    FINE_TUNING_SEEDS,
    PRUNING_SEEDS,
    estimate_standard_error,
    welch_interval,
)

GROUPS = (ID, OOD, ENTAILMENT, J, AUC, "mixed", "mixed-1:1")
FULL_ACCURACY, SUBNETWORK_ACCURACY = "accuracy of the full model", "mean accuracy of subnetworks"
CORE_SIZE = "core size"
RANK_CORRELATION = "rank correlation of head frequency, mid against high"
Tables = Mapping[str, pd.DataFrame]


class StudyValue(NamedTuple):
    """A result of one study.

    Attributes:
        value: Percent, points or a count; NaN where missing.
        low, high: Ends of the 95 % interval.
        se, df: Standard error and its degrees of freedom; NaN where unknown.
        n, unit: Number and kind of units that the interval is over; None without an interval.
        step: Training step of the checkpoint.
        reason: Why the value is missing.
        sparsities: Target sparsities of the subnetworks that the value depends on.
    """

    value: float = np.nan
    low: float = np.nan
    high: float = np.nan
    se: float = np.nan
    df: float = np.nan
    n: int | None = None
    unit: str | None = None
    step: int | None = None
    reason: str | None = None
    sparsities: tuple[float, ...] = ()


class Key(NamedTuple):
    """Identity of a result.

    Attributes:
        quantity: Name of the quantity.
        label: Label of a subset, a group, or the kind of seeds of a rank correlation.
        sparsity: "full", "mid" or "high"; None where it does not apply.
    """

    quantity: str
    label: str
    sparsity: str | None = None

    @property
    def value_range(self) -> tuple[float, float]:
        """Smallest and largest possible value."""
        if self.quantity == CORE_SIZE:
            return 0, np.inf
        if self.quantity == RANK_CORRELATION:
            return -1, 1
        return (-100, 100) if self.label == J else (0, 100)


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
    """Return whether both studies were evaluated on a task of the same name."""
    tasks = [set(tables["accuracy"]["task"]) if "accuracy" in tables else set() for tables in (a, b)]
    return tasks[0] == tasks[1]


def find_unshared_subsets(tables: Tables, others: Tables) -> list[str]:
    """Return the subsets of `tables` that `others` lack, in alphabetical order; they are not compared."""
    return sorted(_subsets(tables) - _subsets(others))


def _subsets(tables: Tables) -> set[str]:
    return set(tables["accuracy"]["subset"].dropna()) if "accuracy" in tables else set()


def iter_values(tables: Tables, context: Context) -> Iterator[tuple[Key, StudyValue]]:
    """Yield all comparable results of a study, in the order of the comparison."""
    several = "summary" in tables and (tables["summary"]["n"][_is_over_runs(tables["summary"])] > 1).any()
    if several:
        yield from _mean_accuracies(tables["summary"][_is_over_runs(tables["summary"])], context)
    else:
        for name, column in (("group_accuracy", "group"), ("accuracy", "subset")):
            if name in tables:
                yield from _full_model_accuracies(tables[name], column, context)
        if "summary" in tables:
            yield from _mean_accuracies(tables["summary"][~_is_over_runs(tables["summary"])], context)
    if "effective_size" in tables:
        yield from _effective_sizes(tables["effective_size"], context)
    spread = {"sparsities": (context.mid, context.high)}
    if "core" in tables:
        yield Key(CORE_SIZE, "heads"), _core_size(tables["core"])._replace(**spread)
    if "rank_correlation" in tables:
        for kind, rows in tables["rank_correlation"].groupby("seeds", sort=False):
            yield Key(RANK_CORRELATION, f"{kind} seeds"), _average_runs(rows, "rho")._replace(**spread)


def _is_over_runs(summary: pd.DataFrame) -> pd.Series:
    return summary["over"] == FINE_TUNING_SEEDS


def _full_model_accuracies(accuracy: pd.DataFrame, column: str, context: Context) -> Iterator[tuple[Key, StudyValue]]:
    """Yield the full model's accuracies by `column`, "group" or "subset"."""
    rows = accuracy[(accuracy["sparsity"] == 0) & (accuracy["step"] == context.last)]
    for name, cell in _group_by_name(rows, column):
        yield Key(FULL_ACCURACY, name, "full"), _average_runs(cell, "accuracy")


def _mean_accuracies(summary: pd.DataFrame, context: Context) -> Iterator[tuple[Key, StudyValue]]:
    """Yield mean accuracies over seeds from rows of table "summary" over one kind of seeds."""
    sparsities = {"full": 0.0, "mid": context.mid, "high": context.high}
    for role, sparsity in sparsities.items():
        rows = summary[(summary["sparsity"] == sparsity) & (summary["step"] == context.last)]
        for column in ("group", "subset"):
            for name, cell in _group_by_name(rows[rows["subset"].isna() == (column == "group")], column):
                key = Key(FULL_ACCURACY if role == "full" else SUBNETWORK_ACCURACY, name, role)
                yield key, _from_summary_row(cell.iloc[0])._replace(sparsities=(sparsity,))


def _from_summary_row(row: pd.Series) -> StudyValue:
    n, unit, left_out = int(row["n"]), row["over"], 0 if pd.isna(row["left_out"]) else int(row["left_out"])
    se, df = estimate_standard_error(row["sd"], n, row["pair_half_width"])
    unit += f", faulty pruning runs left out: {left_out}" if left_out else ""
    reason = None if n else f"none of {left_out} pruning runs is sound"
    return StudyValue(row["mean"], row["low"], row["high"], se, df, n, unit, int(row["step"]), reason)


def _effective_sizes(sizes: pd.DataFrame, context: Context) -> Iterator[tuple[Key, StudyValue]]:
    """Yield effective sizes at the last step, at the margin and in the order that the study uses."""
    rows = select_study_sizes(sizes, context)
    rows = rows[rows["step"] == rows["step"].max()]
    # Sizes by another margin, order or rule are another quantity and must not be compared.
    qualifiers = [f"margin {context.margin:g}"]
    qualifiers += [context.size_order] if context.size_order != "per-seed" else []
    qualifiers += ["of the grid"] if context.size_rule == "grid" else []
    for group, cell in _group_by_name(rows, "group"):
        key = Key(f"effective size, {', '.join(qualifiers)}", group)
        runs, seeds = cell[cell["seed"].isna()], cell[cell["seed"].notna()]
        if len(runs) > 1:
            size = _average_seeds(runs, "effective_size", FINE_TUNING_SEEDS, float(extra_half_width(seeds).mean()))
            size = size._replace(low=np.maximum(size.low, 0), high=np.minimum(size.high, 100))
        else:
            size = _average_runs(runs.assign(unit=PRUNING_SEEDS, n=len(seeds) or np.nan), "effective_size")
        yield key, size


def _core_size(core: pd.DataFrame) -> StudyValue:
    counts = core.groupby("ft_seed")["in_core"].sum()
    return _mean_value(counts, FINE_TUNING_SEEDS) if len(counts) > 1 else StudyValue(float(counts.iloc[0]))


def _group_by_name(rows: pd.DataFrame, column: str) -> Iterator[tuple[str, pd.DataFrame]]:
    """Return (label, rows) of each group or subset, ordered by group and then alphabetically."""
    cells = dict(tuple(rows.groupby(column)))
    order = sorted(cells, key=lambda name: (GROUPS.index(cells[name]["group"].iloc[0]), name))
    label = subset_label if column == "subset" else str
    return ((label(name), cells[name]) for name in order)


def _average_runs(rows: pd.DataFrame, value: str) -> StudyValue:
    """Return a single run's value with its interval, or the mean over several runs; `rows` has one row per run."""
    if len(rows) > 1:
        pairs = 0.0 if value == "rho" else float((rows["high"] - rows["low"]).mean() / 2)
        return _average_seeds(rows, value, FINE_TUNING_SEEDS, pairs)
    row = rows.iloc[0]
    if pd.isna(row[value]):
        return StudyValue(step=int(row["step"]), reason=_first_reason(rows))
    se = (row["high"] - row["low"]) / (2 * stats.norm.ppf((1 + CONFIDENCE_LEVEL) / 2))
    unit = "heads" if value == "rho" else row["unit"]
    n = None if pd.isna(row["n"]) else int(row["n"])
    return StudyValue(
        row[value], row["low"], row["high"], se, np.inf, n, None if pd.isna(se) else unit, int(row["step"])
    )


def _average_seeds(rows: pd.DataFrame, value: str, unit: str, pairs: float) -> StudyValue:
    """Return the mean of column `value` over seeds; `pairs` is the interval's half-width over pairs."""
    step = int(rows["step"].iloc[0])
    if rows[value].isna().any():
        return StudyValue(n=len(rows), step=step, reason=_first_reason(rows[rows[value].isna()]))
    return _mean_value(rows[value], unit, pairs)._replace(step=step)


def _mean_value(values: pd.Series, unit: str, pairs: float = 0.0) -> StudyValue:
    mean, low, high = mean_interval(values)
    low, high = widen(mean, low, high, pairs)
    se, df = estimate_standard_error(values.std(), len(values), pairs)
    return StudyValue(mean, low, high, se, df, len(values), unit)


def _first_reason(rows: pd.DataFrame) -> str:
    return next(iter(rows["reason"].dropna() if "reason" in rows else ()), "no value")


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
