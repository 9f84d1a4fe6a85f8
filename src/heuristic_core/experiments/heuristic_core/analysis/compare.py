"""Two studies against each other: differences of their numbers, with intervals.

The interval of a difference combines the intervals of both sides as of independent estimates. Two models that share
evaluation pairs, or two runs that share a pruning seed, are a little more alike: their intervals are wide rather than
narrow.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from heuristic_core.analysis.bootstrap import of_difference
from heuristic_core.analysis.frames import frame
from heuristic_core.analysis.seeds import FINE_TUNING_SEEDS, LEVEL, PRUNING_SEEDS, mean_interval
from heuristic_core.experiments.heuristic_core.analysis.accuracy import AUC, ENTAILMENT, ID, OOD, J
from heuristic_core.experiments.heuristic_core.analysis.effective_size import of_study
from heuristic_core.experiments.heuristic_core.analysis.names import subset_label
from heuristic_core.experiments.heuristic_core.config.context import Context

GROUPS = (ID, OOD, ENTAILMENT, J, AUC, "mixed", "mixed-1:1")
FULL, SUBNETWORKS = "accuracy of the full model", "mean accuracy of subnetworks"
CORE = "core size"
CORRELATION = "rank correlation of head frequency, mid against high"
Tables = Mapping[str, pd.DataFrame]


class Measured(NamedTuple):
    """A number of one study. se: its standard error with df degrees of freedom; NaN where unknown.

    n: units of the interval. unit: what it is over, None without an interval. step: of the checkpoint.
    reason: why the value is null. at: the sparsities of the subnetworks behind it; empty where it depends on none.
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
    at: tuple[float, ...] = ()


class Key(NamedTuple):
    """What a number is of. `of`: the label of a subset, a group, or the kind of a rank correlation."""

    quantity: str
    of: str
    sparsity: str | None = None

    @property
    def possible(self) -> tuple[float, float]:
        """The least and the largest value that there can be."""
        if self.quantity == CORE:
            return 0, np.inf
        if self.quantity == CORRELATION:
            return -1, 1
        return (-100, 100) if self.of == J else (0, 100)


def compare(a: Tables, b: Tables, context_a: Context, context_b: Context) -> pd.DataFrame:
    """Table "differences" of studies a and b, from their tables by name.

    A study with one fine-tuning run gives the numbers of that run, with intervals over its pairs, templates or
    pruning seeds; one with several gives means over the runs, with Student's t intervals over these.
    Subsets that only one study has are left out, and all where the tasks differ: names may agree there, not pairs.
    Any other number that a study lacks is null, with the reason. So is a difference of numbers at other sparsities, as
    where "mid" is 20 % in one study and 10 % in the other, and an interval that leaves out no possible value.
    """
    of_a, of_b = dict(estimates(a, context_a)), dict(estimates(b, context_b))
    apart = {*only_in(a, b), *only_in(b, a)} if same_task(a, b) else _subsets(a) | _subsets(b)
    apart = set(map(subset_label, apart))
    return frame("differences", [_row(key, of_a, of_b) for key in of_a | of_b if not _of_subset(key, apart)])


def _of_subset(key: Key, labels: Collection[str]) -> bool:
    return key.quantity in (FULL, SUBNETWORKS) and key.of in labels


def same_task(a: Tables, b: Tables) -> bool:
    """Whether both studies were evaluated on the same task, as its name tells."""
    tasks = [set(tables["accuracy"]["task"]) if "accuracy" in tables else set() for tables in (a, b)]
    return tasks[0] == tasks[1]


def only_in(tables: Tables, others: Tables) -> list[str]:
    """The subsets that `tables` have and `others` do not, in alphabetical order: they are not compared."""
    return sorted(_subsets(tables) - _subsets(others))


def _subsets(tables: Tables) -> set[str]:
    return set(tables["accuracy"]["subset"].dropna()) if "accuracy" in tables else set()


def estimates(tables: Tables, context: Context) -> Iterator[tuple[Key, Measured]]:
    """Every number of a study that can be compared, in the order in which it is shown."""
    several = "summary" in tables and (tables["summary"]["n"][_over_runs(tables["summary"])] > 1).any()
    if several:
        yield from _accuracies(tables["summary"][_over_runs(tables["summary"])], context)
    else:
        for name, of in (("group_accuracy", "group"), ("accuracy", "subset")):
            if name in tables:
                yield from _full_model(tables[name], of, context)
        if "summary" in tables:
            yield from _accuracies(tables["summary"][~_over_runs(tables["summary"])], context)
    if "effective_size" in tables:
        yield from _sizes(tables["effective_size"], context)
    of_spread = {"at": (context.mid, context.high)}
    if "core" in tables:
        yield Key(CORE, "heads"), _core_size(tables["core"])._replace(**of_spread)
    if "rank_correlation" in tables:
        for kind, rows in tables["rank_correlation"].groupby("seeds", sort=False):
            yield Key(CORRELATION, f"{kind} seeds"), _of_runs(rows, "rho")._replace(**of_spread)


def _over_runs(summary: pd.DataFrame) -> pd.Series:
    return summary["over"] == FINE_TUNING_SEEDS


def _full_model(accuracy: pd.DataFrame, of: str, context: Context) -> Iterator[tuple[Key, Measured]]:
    rows = accuracy[(accuracy["sparsity"] == 0) & (accuracy["step"] == context.last)]
    for name, found in _by_name(rows, of):
        yield Key(FULL, name, "full"), _of_runs(found, "accuracy")


def _accuracies(summary: pd.DataFrame, context: Context) -> Iterator[tuple[Key, Measured]]:
    """Mean accuracies over seeds, from rows of the summary that are all over the same kind of seeds."""
    sparsities = {"full": 0.0, "mid": context.mid, "high": context.high}
    for role, sparsity in sparsities.items():
        rows = summary[(summary["sparsity"] == sparsity) & (summary["step"] == context.last)]
        for of in ("group", "subset"):
            for name, found in _by_name(rows[rows["subset"].isna() == (of == "group")], of):
                key = Key(FULL if role == "full" else SUBNETWORKS, name, role)
                yield key, _from_moments(found.iloc[0])._replace(at=(sparsity,))


def _from_moments(row: pd.Series) -> Measured:
    n, over = int(row["n"]), row["over"]
    known = n > 1 and pd.notna(row["sd"])
    se, df = (row["sd"] / np.sqrt(n), n - 1) if known else (np.nan, np.nan)
    return Measured(row["mean"], row["low"], row["high"], se, df, n, over, int(row["step"]))


def _sizes(sizes: pd.DataFrame, context: Context) -> Iterator[tuple[Key, Measured]]:
    """Effective size at the study's margin and its last step, in the study's order."""
    rows = of_study(sizes, context)
    rows = rows[rows["step"] == rows["step"].max()]
    # Sizes at other margins, in other orders and by other rules are other quantities.
    words = [f"margin {context.margin:g}"]
    words += [context.size_order] if context.size_order != "per-seed" else []
    words += ["of the grid"] if context.size_rule == "grid" else []
    for group, found in _by_name(rows, "group"):
        key = Key(f"effective size, {', '.join(words)}", group)
        runs, seeds = found[found["seed"].isna()], found[found["seed"].notna()]
        if len(runs) > 1 or seeds.empty:
            found, unit = runs, FINE_TUNING_SEEDS
        else:
            found, unit = seeds, PRUNING_SEEDS
        size = _of_seeds(found, "effective_size", unit)
        yield key, size._replace(low=np.maximum(size.low, 0), high=np.minimum(size.high, 100))


def _core_size(core: pd.DataFrame) -> Measured:
    counts = core.groupby("ft_seed")["in_core"].sum()
    return _mean(counts, FINE_TUNING_SEEDS) if len(counts) > 1 else Measured(float(counts.iloc[0]))


def _by_name(rows: pd.DataFrame, column: str) -> Iterator[tuple[str, pd.DataFrame]]:
    """(group or subset, its rows), group by group, subsets of one in alphabetical order."""
    found = dict(tuple(rows.groupby(column)))
    order = sorted(found, key=lambda name: (GROUPS.index(found[name]["group"].iloc[0]), name))
    label = subset_label if column == "subset" else str
    return ((label(name), found[name]) for name in order)


def _of_runs(rows: pd.DataFrame, value: str) -> Measured:
    """The one run's value with its own interval; over several fine-tuning runs their mean. rows: one per run."""
    if len(rows) > 1:
        return _of_seeds(rows, value, FINE_TUNING_SEEDS)
    row = rows.iloc[0]
    if pd.isna(row[value]):
        return Measured(step=int(row["step"]), reason=_reason(rows))
    se = (row["high"] - row["low"]) / (2 * stats.norm.ppf((1 + LEVEL) / 2))
    unit = "heads" if value == "rho" else row["unit"]
    n = None if pd.isna(row["n"]) else int(row["n"])
    return Measured(row[value], row["low"], row["high"], se, np.inf, n, None if pd.isna(se) else unit, int(row["step"]))


def _of_seeds(rows: pd.DataFrame, value: str, unit: str) -> Measured:
    """The mean over seeds, null where one is missing."""
    step = int(rows["step"].iloc[0])
    if rows[value].isna().any():
        return Measured(n=len(rows), step=step, reason=_reason(rows[rows[value].isna()]))
    return _mean(rows[value], unit)._replace(step=step)


def _mean(values: pd.Series, unit: str) -> Measured:
    mean, low, high = mean_interval(values)
    n = len(values)
    se, df = (float(np.std(values, ddof=1)) / np.sqrt(n), n - 1) if n > 1 else (np.nan, np.nan)
    return Measured(mean, low, high, se, df, n, unit)


def _reason(rows: pd.DataFrame) -> str:
    """The first reason that null values have."""
    return next(iter(rows["reason"].dropna() if "reason" in rows else ()), "no value")


def _row(key: Key, of_a: Mapping[Key, Measured], of_b: Mapping[Key, Measured]) -> dict:
    a, b = (of.get(key, Measured(reason="not in its tables")) for of in (of_a, of_b))
    reasons = [f"{side}: {estimate.reason}" for side, estimate in (("a", a), ("b", b)) if estimate.reason]
    difference, (low, high) = b.value - a.value, (np.nan, np.nan)
    if a.at and b.at and a.at != b.at:
        difference, reasons = np.nan, [*reasons, _apart(a.at, b.at)]
    else:
        low, high = of_difference(a[:3], b[:3]) if np.isinf([a.df, b.df]).all() else _welch(a, b)
        least, most = key.possible
        if not reasons and np.isnan(low):
            reasons = [f"no interval: {_why_none(a, b)}"]
        elif _empty(low, high, least - most, most - least):
            reasons.append(f"no interval: it would be {_reach(low, high)}, beyond all that is possible; n is too small")
            low, high = np.nan, np.nan
    ends = {}
    for side, estimate in (("a", a), ("b", b)):
        ends |= {f"{side}_low": estimate.low, f"{side}_high": estimate.high}
        if _empty(estimate.low, estimate.high, *key.possible):
            reasons.append(f"{side}: its interval would be {_reach(estimate.low, estimate.high)}")
            ends |= {f"{side}_low": np.nan, f"{side}_high": np.nan}
    return {
        "quantity": key.quantity, "group_or_subset": key.of, "sparsity_role": key.sparsity,
        "sparsity_a": _one(a.at), "sparsity_b": _one(b.at), "step_a": a.step, "step_b": b.step,
        "a": a.value, "b": b.value, **ends,
        "difference": difference, "low": low, "high": high,
        "unit": a.unit if a.unit == b.unit else f"a: {a.unit or 'none'}; b: {b.unit or 'none'}",
        "n_a": a.n, "n_b": b.n, "reason": "; ".join(reasons) or None,
    }  # fmt: skip


def _empty(low: float, high: float, least: float, most: float) -> bool:
    """Whether an interval leaves out nothing between the least and the largest possible value."""
    return bool(low < least and high > most)


def _reach(low: float, high: float) -> str:
    return f"{low:.0f} to {high:.0f}".replace("-", "−")


def _apart(a: tuple[float, ...], b: tuple[float, ...]) -> str:
    of_a, of_b = (" and ".join(f"{100 * one:g} %" for one in sparsities) for sparsities in (a, b))
    return f"not compared: a at {of_a} sparsity, b at {of_b}"


def _one(sparsities: tuple[float, ...]) -> float:
    """The sparsity of a number that is of a single one; NaN of others."""
    return sparsities[0] if len(sparsities) == 1 else np.nan


def _why_none(a: Measured, b: Measured) -> str:
    without = [side for side, estimate in (("a", a), ("b", b)) if np.isnan(estimate.se)]
    return f"{' and '.join(without)} without one" if without else "no spread on either side"


def _welch(a: Measured, b: Measured) -> tuple[float, float]:
    """95 % interval of b - a: Welch's t from standard errors and degrees of freedom (infinite: the normal one)."""
    variances = np.array([a.se, b.se]) ** 2
    total = variances.sum()
    if not total > 0:  # unknown, or no spread, which is no evidence of none
        return np.nan, np.nan
    inverse = float((variances**2 / np.array([a.df, b.df])).sum()) / total**2  # Welch and Satterthwaite
    half = stats.t.ppf((1 + LEVEL) / 2, 1 / inverse if inverse > 0 else np.inf) * np.sqrt(total)
    difference = b.value - a.value
    return difference - half, difference + half
