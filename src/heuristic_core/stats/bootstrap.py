"""Intervals over evaluation pairs: the bootstrap, paired over models and clustered by template.

All models of one subset are measured on the same draws, so that intervals of differences are paired. Where the pairs
of a subset come from several templates, templates are drawn, not pairs: pairs of one template are no independent
evidence (HANS has one to twelve templates a subcase, so that such intervals are wide).
"""

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import pandas as pd
import scipy  # loads scipy.stats where it is used: Snakemake reads this module at every start

LOW_PERCENTILE, HIGH_PERCENTILE = 2.5, 97.5  # percentiles of a 95 % interval
FLAT_TOLERANCE = 1e-9  # points; draws that differ by less are all the same
ReachFunction = Callable[[int, int], tuple[np.ndarray, np.ndarray]]  # see `widen_flat_sides`


class Resamples:
    """Draws with replacement of the units of one subset.

    templates: the template of every pair, None or NaN where unknown. count: draws.
    unit: what is drawn: "template", "pair", or "pair of one template", whose interval is of this template alone and a
    multiple narrower than between templates. units: how many there are.
    Draws of K units vary too little by a factor sqrt((K - 1) / K), and :meth:`means` makes up for it.
    """

    def __init__(self, templates: Sequence[str | float | None], count: int, rng: np.random.Generator):
        distinct = len(set(templates)) if all(isinstance(template, str) for template in templates) else 0
        names = list(templates) if distinct > 1 else list(range(len(templates)))
        _, self._unit_of = np.unique(names, return_inverse=True)
        self.unit = ("pair", "pair of one template", "template")[min(distinct, 2)]
        self.units = int(self._unit_of.max()) + 1
        times = rng.multinomial(self.units, np.full(self.units, 1 / self.units), size=count)
        self._pairs = times @ np.bincount(self._unit_of, minlength=self.units)
        self._times = times.astype(np.uint16)  # how often each unit is drawn; those of all subsets are kept
        self._spread = np.sqrt(self.units / max(self.units - 1, 1))

    def means(self, values: np.ndarray) -> np.ndarray:
        """The mean of `values` in every draw: [count, ...], from values by pair, [pairs, ...]."""
        values = np.asarray(values, dtype=float)
        sums = np.zeros((self.units, *values.shape[1:]))
        np.add.at(sums, self._unit_of, values)
        drawn = np.tensordot(self._times.astype(float), sums, axes=1)
        drawn /= self._pairs.reshape(-1, *[1] * (values.ndim - 1))
        observed = values.mean(axis=0)
        return observed + self._spread * (drawn - observed)


def sum_interval(
    parts: Iterable[np.ndarray], units: Sequence[int], observed: np.ndarray, weights: Sequence[float] | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """95 % interval of a weighted sum of independent parts, such as the mean over the subsets of a group.

    parts: the draws of each part, [count, ...], one after another. units: the number of units of each part. observed:
    [...], the sum. weights: of each part; default: the unweighted mean.
    Percentiles of draws know nothing of Student's t: with two templates an interval would hold the truth every other
    time. So the interval is widened once, for the mean that is reported, with Satterthwaite's degrees of freedom: by
    next to nothing for a hundred units, and by a factor of six for a single part of two.
    """
    weights = np.full(len(units), 1 / len(units)) if weights is None else weights
    total, variances = None, []
    for weight, part in zip(weights, parts, strict=True):
        weighted = weight * part
        variances.append(weighted.var(axis=0))
        total = weighted if total is None else np.add(total, weighted, out=total)
    low, high = percentiles(total)
    factor = scipy.stats.t.ppf(HIGH_PERCENTILE / 100, _satterthwaite(variances, units)) / scipy.stats.norm.ppf(
        HIGH_PERCENTILE / 100
    )
    return observed + factor * (low - observed), observed + factor * (high - observed)


def degrees_of_freedom(parts: Sequence[np.ndarray], units: Sequence[int]) -> np.ndarray:
    """Satterthwaite's (1946), of the variance of a sum of independent parts, [count, ...] each."""
    return _satterthwaite([part.var(axis=0) for part in parts], units)


def _satterthwaite(variances: Sequence[np.ndarray], units: Sequence[int]) -> np.ndarray:
    variances = np.array(variances)
    degrees = np.maximum(np.array(units, dtype=float) - 1, 1).reshape(-1, *[1] * (variances.ndim - 1))
    total, shares = variances.sum(axis=0), (variances**2 / degrees).sum(axis=0)
    return np.where(shares > 0, total**2 / np.where(shares > 0, shares, 1), degrees.min())


def bound_accuracy_interval(low: np.ndarray, high: np.ndarray, units: int) -> tuple[np.ndarray, np.ndarray]:
    """Intervals of an accuracy in percent, cut at 0 and 100; an interval without width there is widened to Wilson's.

    Where all pairs are right, or all wrong, every bootstrap draw says so again, however few pairs there are.
    """
    low, high = np.clip(low, 0, 100), np.clip(high, 0, 100)
    return np.where(low == 100, 100 - wilson_zero_bound(units), low), np.where(
        high == 0, wilson_zero_bound(units), high
    )


def widen_change_interval(
    low: np.ndarray, high: np.ndarray, units: int, changes: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Widen intervals of a change of accuracy, points, that have no width, as :func:`bound_accuracy_interval` does.

    Where two models agree on every pair, so they do in every draw. changes: the number of changes that a value is the
    sum of; 0 of a model that is compared with itself.
    """
    reach = np.where(high - low < 1e-9, changes * wilson_zero_bound(units), 0)
    return low - reach, high + reach


def wilson_zero_bound(units: int) -> float:
    """The largest share, percent, of which `units` units may well show nothing: Wilson's bound for 0 of them."""
    z = scipy.stats.norm.ppf(HIGH_PERCENTILE / 100) ** 2
    return 100 * z / (units + z)


def widen_flat_sides(
    ends: tuple[np.ndarray, np.ndarray],
    parts: Sequence[np.ndarray],
    units: Sequence[int],
    weights: Sequence[float],
    sides: Sequence[str],
    reach: ReachFunction,
) -> tuple[np.ndarray, np.ndarray]:
    """How far the ends of an interval are from the value, with what unseen pairs may add to sides that do not vary.

    ends: distances below and above, of the draws. parts, units, weights: as of :func:`sum_interval`, the sum being over
    sides (classes of pairs). sides: of each part. reach: (the first part of a side whose draws are all the same, its
    units) -> how far this side may be below and above. Errors of sides are independent: distances add up as squares
    (Newcombe 1998).
    """
    below, above = (end**2 for end in ends)
    for side in dict.fromkeys(sides):
        members = [k for k, other_side in enumerate(sides) if other_side == side]
        flat = np.ptp(sum(weights[k] * parts[k] for k in members), axis=0) < FLAT_TOLERANCE
        down, up = reach(members[0], sum(units[k] for k in members))
        below, above = below + np.where(flat, down, 0) ** 2, above + np.where(flat, up, 0) ** 2
    return np.sqrt(below), np.sqrt(above)


def bonferroni_interval(value: pd.Series, low: pd.Series, high: pd.Series) -> tuple[pd.Series, pd.Series]:
    """95 % intervals of several values that hold for all of them, from the interval of each (Bonferroni, normal)."""
    factor = scipy.stats.norm.ppf(1 - LOW_PERCENTILE / 100 / len(value)) / scipy.stats.norm.ppf(HIGH_PERCENTILE / 100)
    return value - factor * (value - low), value + factor * (high - value)


def difference_interval(a: Sequence[float], b: Sequence[float]) -> tuple[float, float]:
    """95 % interval of b - a from the independent intervals of both, which need not be symmetric (Zou 2007).

    a, b: value, and the ends of its interval.
    """
    (value_a, low_a, high_a), (value_b, low_b, high_b) = a, b
    below, above = np.hypot(value_b - low_b, high_a - value_a), np.hypot(high_b - value_b, value_a - low_a)
    return value_b - value_a - below, value_b - value_a + above


def percentiles(draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The 2.5th and 97.5th percentile over the first axis of `draws`."""
    low, high = np.percentile(draws, [LOW_PERCENTILE, HIGH_PERCENTILE], axis=0)
    return low, high
