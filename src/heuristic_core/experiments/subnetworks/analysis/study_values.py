"""Results of a study as values with intervals, which can be compared with those of another study."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from heuristic_core.experiments.subnetworks.analysis.accuracy import AUC, ENTAILMENT, ID, OOD, J
from heuristic_core.experiments.subnetworks.analysis.effective_size import extra_half_width, select_study_sizes
from heuristic_core.experiments.subnetworks.analysis.names import subset_label
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.stats.means import mean_interval, widen
from heuristic_core.stats.seeds import (
    CONFIDENCE_LEVEL,
    FINE_TUNING_SEEDS,
    PRUNING_SEEDS,
    estimate_standard_error,
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


def iter_values(tables: Tables, context: Context) -> Iterator[tuple[Key, StudyValue]]:
    """Yield all comparable results of a study, in the order of the comparison.

    They are means over fine-tuning runs if there are several, else the results of the only run.

    Args:
        tables: Tables of the study by name; results of a missing table are left out.
        context: Facts about the study: its last step, sparsities "mid" and "high", and how it measures sizes.

    Yields:
        The identity of each result and its value: accuracies, AUC and effective sizes in percent, J in points, the
        core's size as a number of heads, and rank correlations from -1 to 1.
    """
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
