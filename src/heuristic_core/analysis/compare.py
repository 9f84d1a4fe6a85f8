"""Two studies against each other: differences of their numbers, with intervals.

The interval of a difference combines those of both sides as of independent estimates. Two models that share
evaluation pairs, or two runs that share a pruning seed, are a little more alike than that: their intervals are wide
rather than narrow.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from heuristic_core.analysis.frames import frame
from heuristic_core.analysis.seeds import LEVEL, mean_interval
from heuristic_core.config.context import Context

GROUPS = ("id", "ood", "ood-entailment", "mixed", "mixed-1:1")
CORRELATION = "rank correlation of head frequency, mid against high"
Tables = Mapping[str, pd.DataFrame]


class Estimate(NamedTuple):
    """A number of one study. se: its standard error with df degrees of freedom; NaN where unknown.

    n: units of the interval. unit: what it is over, None without an interval. step: of the checkpoint.
    reason: why the value is null.
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


class Key(NamedTuple):
    """What a number is of. `of`: a subset, a group, or the kind of a rank correlation."""

    quantity: str
    of: str
    sparsity: str | None = None


def compare(a: Tables, b: Tables, context_a: Context, context_b: Context) -> pd.DataFrame:
    """Table "differences" of studies a and b, from their tables by name. What only one of them has is left out.

    A study with one fine-tuning run gives the numbers of that run, with intervals over its pairs, templates or
    pruning seeds; one with several gives means over the runs, with Student's t intervals over these.
    """
    of_a, of_b = dict(estimates(a, context_a)), dict(estimates(b, context_b))
    rows = [_row(key, of_a[key], of_b[key]) for key in of_a if key in of_b]
    return frame("differences", rows)


def only_in(tables: Tables, others: Tables) -> list[str]:
    """The subsets that `tables` have and `others` do not, in alphabetical order: they are not compared."""
    return sorted(_subsets(tables) - _subsets(others))


def _subsets(tables: Tables) -> set[str]:
    return set(tables["accuracy"]["subset"].dropna()) if "accuracy" in tables else set()


def estimates(tables: Tables, context: Context) -> Iterator[tuple[Key, Estimate]]:
    """Every number of a study that can be compared, in the order in which it is shown."""
    for name, of in (("group_accuracy", "group"), ("accuracy", "subset")):
        if name in tables:
            yield from _full_model(tables[name], of, context)
    if "summary" in tables:
        yield from _subnetworks(tables["summary"], context)
    if "effective_size" in tables:
        yield from _sizes(tables["effective_size"], context)
    if "core" in tables:
        yield Key("core size", "heads"), _core_size(tables["core"])
    if "rank_correlation" in tables:
        yield from _correlations(tables["rank_correlation"])


def _full_model(accuracy: pd.DataFrame, of: str, context: Context) -> Iterator[tuple[Key, Estimate]]:
    rows = accuracy[(accuracy["sparsity"] == 0) & (accuracy["step"] == context.last)]
    for name, found in _by_name(rows, of):
        yield Key("accuracy of the full model", name, "full"), _over_runs(found, "accuracy", context.last)


def _subnetworks(summary: pd.DataFrame, context: Context) -> Iterator[tuple[Key, Estimate]]:
    """Mean accuracies over seeds: the rows over fine-tuning seeds where there are some, else those of the one run."""
    for role in ("mid", "high"):
        rows = summary[(summary["sparsity"] == getattr(context, role)) & (summary["step"] == context.last)]
        over_runs = rows[rows["over"] == "fine-tuning seeds"]
        if not (over_runs["n"] > 1).any():
            over_runs = rows[rows["over"] == "pruning seeds"]
        for of in ("group", "subset"):
            named = over_runs[over_runs["subset"].isna() == (of == "group")]
            for name, found in _by_name(named, of):
                yield Key("mean accuracy of subnetworks", name, role), _from_moments(found.iloc[0])


def _from_moments(row: pd.Series) -> Estimate:
    n, over = int(row["n"]), row["over"]
    known = n > 1 and pd.notna(row["sd"])
    se, df = (row["sd"] / np.sqrt(n), n - 1) if known else (np.nan, np.nan)
    reason = "no value in the summary" if pd.isna(row["mean"]) else None
    return Estimate(row["mean"], row["low"], row["high"], se, df, n, over, int(row["step"]), reason)


def _sizes(sizes: pd.DataFrame, context: Context) -> Iterator[tuple[Key, Estimate]]:
    """Effective size at the study's margin and its last step, thresholded seed by seed."""
    of_margin = (sizes["criterion"] == "accuracy") & (sizes["threshold"] == context.margin)
    rows = sizes[of_margin & (sizes["order"] == "per-seed")]
    rows = rows[rows["step"] == rows["step"].max()]
    for group, found in _by_name(rows, "group"):
        # The margin stands in the name: sizes at different margins are different quantities.
        key = Key(f"effective size, margin {context.margin:g}", group)
        summary, by_seed = found[found["seed"].isna()], found[found["seed"].notna()]
        if summary["ft_seed"].nunique() > 1:
            yield key, _over_runs(summary, "effective_size", int(summary["step"].iloc[0]))
        else:
            yield key, _over_seeds(by_seed, "effective_size", "pruning seeds", _first_reason(summary))


def _core_size(core: pd.DataFrame) -> Estimate:
    counts = core.groupby("ft_seed")["in_core"].sum()
    if len(counts) == 1:
        return Estimate(float(counts.iloc[0]))
    return _mean(counts, "fine-tuning seeds", None)


def _correlations(table: pd.DataFrame) -> Iterator[tuple[Key, Estimate]]:
    for kind, rows in table.groupby("seeds", sort=False):
        yield Key(CORRELATION, f"{kind} seeds"), _over_runs(rows, "rho")


def _by_name(rows: pd.DataFrame, column: str) -> Iterator[tuple[str, pd.DataFrame]]:
    """(group or subset, its rows), group by group, subsets of one in alphabetical order."""
    found = dict(tuple(rows.groupby(column)))
    order = sorted(found, key=lambda name: (GROUPS.index(found[name]["group"].iloc[0]), name))
    return ((name, found[name]) for name in order)


def _over_runs(rows: pd.DataFrame, value: str, step: int | None = None) -> Estimate:
    """The one run's value with its own interval, or the mean over fine-tuning runs, null where one is missing.

    rows: one per fine-tuning run.
    """
    step = int(rows["step"].iloc[0]) if step is None else step
    if len(rows) > 1:
        return _over_seeds(rows, value, "fine-tuning seeds", _first_reason(rows), step)
    row = rows.iloc[0]
    low, high = row.get("low", np.nan), row.get("high", np.nan)
    se = (high - low) / (2 * stats.norm.ppf((1 + LEVEL) / 2))
    unit, n = ("heads" if value == "rho" else row.get("unit")), row.get("n")
    unit = unit if pd.notna(unit) and pd.notna(se) else None
    reason = (_first_reason(rows) or "no value") if pd.isna(row[value]) else None
    return Estimate(row[value], low, high, se, np.inf, None if pd.isna(n) else int(n), unit, step, reason)


def _over_seeds(rows: pd.DataFrame, value: str, unit: str, reason: str | None, step: int | None = None) -> Estimate:
    step = step if step is not None or rows.empty else int(rows["step"].iloc[0])
    if rows.empty or rows[value].isna().any():
        return Estimate(n=len(rows), step=step, reason=reason or _first_reason(rows) or "no value")
    return _mean(rows[value], unit, step)


def _mean(values: pd.Series, unit: str, step: int | None) -> Estimate:
    mean, low, high = mean_interval(values)
    n = len(values)
    se, df = (float(np.std(values, ddof=1)) / np.sqrt(n), n - 1) if n > 1 else (np.nan, np.nan)
    return Estimate(mean, low, high, se, df, n, unit, step)


def _first_reason(rows: pd.DataFrame) -> str | None:
    reasons = rows["reason"].dropna() if "reason" in rows else ()
    return next(iter(reasons), None)


def _row(key: Key, a: Estimate, b: Estimate) -> dict:
    low, high = (_from_ends if key.quantity == CORRELATION else _welch)(a, b)
    reasons = [f"{side}: {estimate.reason}" for side, estimate in (("a", a), ("b", b)) if estimate.reason]
    if not reasons and np.isnan(low):
        reasons = [f"no interval: {_why_none(a, b)}"]
    return {
        "quantity": key.quantity, "group_or_subset": key.of, "sparsity_role": key.sparsity,
        "step_a": a.step, "step_b": b.step,
        "a": a.value, "a_low": a.low, "a_high": a.high, "b": b.value, "b_low": b.low, "b_high": b.high,
        "difference": b.value - a.value, "low": low, "high": high,
        "unit": a.unit if a.unit == b.unit else f"a: {a.unit or 'none'}; b: {b.unit or 'none'}",
        "n_a": a.n, "n_b": b.n, "reason": "; ".join(reasons) or None,
    }  # fmt: skip


def _why_none(a: Estimate, b: Estimate) -> str:
    without = [side for side, estimate in (("a", a), ("b", b)) if np.isnan(estimate.se)]
    return f"{' and '.join(without)} without one" if without else "no spread on either side"


def _welch(a: Estimate, b: Estimate) -> tuple[float, float]:
    """95 % interval of b - a: Welch's t from standard errors and degrees of freedom (infinite: the normal one)."""
    variances = np.array([a.se, b.se]) ** 2
    total = variances.sum()
    if not total > 0:  # unknown, or no spread, which is no evidence of none
        return np.nan, np.nan
    inverse = float((variances**2 / np.array([a.df, b.df])).sum()) / total**2  # Welch and Satterthwaite
    half = stats.t.ppf((1 + LEVEL) / 2, 1 / inverse if inverse > 0 else np.inf) * np.sqrt(total)
    difference = b.value - a.value
    return difference - half, difference + half


def _from_ends(a: Estimate, b: Estimate) -> tuple[float, float]:
    """95 % interval of b - a from intervals that need not be symmetric, as those of correlations (Zou 2007)."""
    difference = b.value - a.value
    low = difference - np.hypot(b.value - b.low, a.high - a.value)
    return low, difference + np.hypot(b.high - b.value, a.value - a.low)
