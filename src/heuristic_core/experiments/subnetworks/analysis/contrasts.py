"""Estimate differences between models on the same pairs at all levels (:mod:`.levels`), with paired intervals.

A value at a level (subset, group or family) is a weighted sum of means over the pairs of one subset each. A difference
between models is therefore the same weighted sum of mean differences, and all differences of a subset are measured on
the same bootstrap draws (:mod:`.bootstrap`).
"""

from collections.abc import Collection, Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd
import scipy  # scipy.stats loads lazily: Snakemake imports this module at every start

from heuristic_core.common.draws import numpy_generator
from heuristic_core.experiments.subnetworks.analysis.accuracy import J, select_j_rows, select_subsets
from heuristic_core.stats.bootstrap import (
    HIGH_PERCENTILE,
    Resamples,
    degrees_of_freedom,
    percentiles,
    sum_interval,
    widen_flat_sides,
    wilson_zero_bound,
)

ACCURACY, LOG_ODDS = "accuracy", "log_odds"
MIN_DIFFERENCE = 1e-9  # points or nats; smaller differences count as zero


class Level(NamedTuple):
    """A subset, or an aggregate of subsets.

    Attributes:
        identity: Subset, group, family and n, null where they do not apply.
        weights: Weight of each subset's mean, [subsets].
    """

    identity: dict
    weights: np.ndarray

    @property
    def offset(self) -> float:
        """Constant that is added to the weighted sum of accuracies, points."""
        return -100.0 if self.identity["group"] == J else 0.0

    def supports(self, measure: str) -> bool:
        """Return whether `measure` is defined at this level: J only has accuracies."""
        return measure == ACCURACY or self.identity["group"] != J


class BootstrapMeans(NamedTuple):
    """Means over pairs by subset.

    Attributes:
        means: Means by subset, [subsets, k].
        draws: Bootstrap draws of the means of each subset, [draws, k].
    """

    means: np.ndarray
    draws: list[np.ndarray]


class Levels:
    """Levels of a set of evaluation pairs, and estimates at these levels.

    Attributes:
        levels: All subsets, followed by means over groups and families, and J.
    """

    def __init__(self, pairs: Mapping[str, np.ndarray], subsets: Collection[str] | None, bootstrap: int, seed: int):
        """Prepare the levels.

        Args:
            pairs: Columns subset, group, family and template of predictions.
            subsets: Subsets that enter means; None for all.
            bootstrap: Number of bootstrap draws.
            seed: Seed of the draws.

        Raises:
            ValueError: If a subset is unknown.
        """
        table = pd.DataFrame({name: pairs[name] for name in ("subset", "group", "family", "template")})
        self._rows, self._resamples, identities = [], [], []
        for (subset, group, family), rows in table.groupby(["subset", "group", "family"], dropna=False, sort=False):
            rng = numpy_generator(seed, "bootstrap", subset, group)
            self._rows.append(rows.index.to_numpy())
            self._resamples.append(Resamples(rows["template"].tolist(), bootstrap, rng))
            family = family if isinstance(family, str) else None
            identities.append({"subset": subset, "group": group, "family": family, "n": len(rows)})
        self._table = pd.DataFrame(identities)
        self.levels = [Level(identity, row) for identity, row in zip(identities, np.eye(len(identities)), strict=True)]
        self.levels += _aggregate_levels(select_subsets(self._table, subsets), len(identities))

    def means(self, values: np.ndarray) -> np.ndarray:
        """Return means by subset, [subsets, k], of values by pair, [pairs, k]."""
        return np.array([values[rows].mean(axis=0, dtype=float) for rows in self._rows])

    def resample(self, values: np.ndarray) -> BootstrapMeans:
        """Return means by subset of values by pair, [pairs, k], with their bootstrap draws."""
        parts = zip(self._resamples, self._rows, strict=True)
        return BootstrapMeans(self.means(values), [resamples.means(values[rows]) for resamples, rows in parts])

    def estimate_effects(
        self, level: Level, differences: BootstrapMeans, measure: str
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Estimate differences at a level.

        Intervals of accuracies are widened for unseen pairs where no pair of one class differs.

        Args:
            level: The level.
            differences: Differences by pair, as :meth:`resample` returns them.
            measure: `ACCURACY` or `LOG_ODDS`.

        Returns:
            Differences, [k], and the lower and upper ends of their intervals.
        """
        parts, units, weights = self._parts(level, differences)
        value = level.weights @ differences.means
        low, high = sum_interval(parts, units, value, weights)
        if measure == ACCURACY:
            low, high = self._widen_for_unseen(level, (value, low, high), (parts, units, weights), 1)
        return value, low, high

    def compute_p_values(self, level: Level, differences: BootstrapMeans) -> np.ndarray:
        """Return two-sided p values of differences from 0, [k].

        Student's t tests over pairs (over templates where a subset has several), with standard errors from the
        bootstrap draws. p is 1 where no pair differs, and NaN where pairs differ but all draws are equal.

        Args:
            level: The level.
            differences: Differences by pair, as :meth:`resample` returns them.
        """
        parts, units, weights = self._parts(level, differences)
        parts = [weight * part for weight, part in zip(weights, parts, strict=True)]
        error, value = np.sum(parts, axis=0).std(axis=0), level.weights @ differences.means
        constant = error <= MIN_DIFFERENCE
        p = 2 * scipy.stats.t.sf(np.abs(value) / np.where(constant, 1, error), degrees_of_freedom(parts, units))
        return np.where(constant, np.where(np.abs(value) <= MIN_DIFFERENCE, 1.0, np.nan), p)

    def estimate_ratios(
        self, level: Level, numerator: BootstrapMeans, denominator: BootstrapMeans, measure: str
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Estimate ratios of differences at a level, from paired bootstrap draws.

        A ratio is meaningful only where the interval of the denominator excludes 0. Intervals are widened as in
        :func:`.bootstrap.interval`, with the degrees of freedom of the ratio to first order. Intervals of accuracies
        are also widened for unseen pairs where the ratio is equal in all draws of a class of pairs.

        Args:
            level: The level.
            numerator: Differences by pair, k of them.
            denominator: Differences by pair, one or k of them.
            measure: `ACCURACY` or `LOG_ODDS`.

        Returns:
            Ratios, [k], and the lower and upper ends of their intervals.
        """
        parts, units, weights = self._parts(level, numerator)
        divisors = self._parts(level, denominator)[0]
        value, total = level.weights @ numerator.means, level.weights @ denominator.means
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = value / total
            sums = [sum(w * part for w, part in zip(weights, terms, strict=True)) for terms in (parts, divisors)]
            low, high = percentiles(sums[0] / sums[1])
        linearised = [w * (part - ratio * divisor) for w, part, divisor in zip(weights, parts, divisors, strict=True)]
        factor = scipy.stats.t.ppf(HIGH_PERCENTILE / 100, degrees_of_freedom(linearised, units)) / scipy.stats.norm.ppf(
            HIGH_PERCENTILE / 100
        )
        low, high = ratio + factor * (low - ratio), ratio + factor * (high - ratio)
        if measure == ACCURACY:
            residuals = [part - ratio * divisor for part, divisor in zip(parts, divisors, strict=True)]
            low, high = self._widen_for_unseen(level, (ratio, low, high), (residuals, units, weights), np.abs(total))
        return ratio, low, high

    def _widen_for_unseen(self, level: Level, estimate: tuple, parts: tuple, total) -> tuple[np.ndarray, np.ndarray]:
        """Widen an interval for unseen pairs.

        Args:
            level: Level of the value.
            estimate: Value, low and high.
            parts: See :meth:`_parts`.
            total: Divisor of the ends.
        """
        value, low, high = estimate
        sides = self._table["group"].iloc[np.flatnonzero(level.weights)].tolist()
        ends = value - low, high - value
        below, above = widen_flat_sides(ends, *parts, sides, lambda _, units: (wilson_zero_bound(units) / total,) * 2)
        return value - below, value + above

    def _parts(self, level: Level, means: BootstrapMeans) -> tuple[list[np.ndarray], list[int], list[float]]:
        """Return the draws, the number of units and the weight of each subset of a level."""
        positions = np.flatnonzero(level.weights)
        units = [self._resamples[k].units for k in positions]
        return [means.draws[k] for k in positions], units, level.weights[positions].tolist()


def _aggregate_levels(subsets: pd.DataFrame, count: int) -> list[Level]:
    """Return the levels of means over groups, over each family's groups, and of J, overall and by family."""
    in_family = subsets[subsets["family"].notna()]
    parts = [(rows, 1 / len(rows), {"group": group}) for group, rows in subsets.groupby("group", sort=False)]
    parts += [
        (rows, 1 / len(rows), {"group": group, "family": family})
        for (group, family), rows in in_family.groupby(["group", "family"], sort=False)
    ]
    sides = select_j_rows(subsets.assign(model=0), ["model"])
    parts += [(sides, sides["weight"].to_numpy(), {"group": J})] if len(sides) else []
    by_family = select_j_rows(in_family, ["family"]).groupby("family", sort=False)
    parts += [(rows, rows["weight"].to_numpy(), {"group": J, "family": family}) for family, rows in by_family]
    levels = []
    for rows, weight, identity in parts:
        weights = np.zeros(count)
        weights[rows.index] = weight
        defaults = {"subset": None, "family": None, "n": int(rows["n"].sum())}
        levels.append(Level(defaults | identity, weights))
    return levels
