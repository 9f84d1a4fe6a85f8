"""Bootstrap intervals over evaluation pairs, paired over models and clustered by template.

All models are measured on the same draws of a subset, so intervals of differences between models are paired. If the
pairs of a subset come from several templates, templates are drawn instead of pairs, because pairs of one template are
not independent. HANS has one to twelve templates per subcase, so its intervals are wide.
"""

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import pandas as pd
import scipy  # loads scipy.stats on first use: Snakemake imports this module at every start

LOW_PERCENTILE, HIGH_PERCENTILE = 2.5, 97.5  # percentiles of a 95 % interval
FLAT_TOLERANCE = 1e-9  # points; draws that differ by less count as equal
FlatDistances = Callable[[int, int], tuple[np.ndarray, np.ndarray]]  # see `widen_flat_sides`


class Resamples:
    """Bootstrap draws, with replacement, of the units of one subset.

    With K units, bootstrap means vary too little, by a factor sqrt((K - 1) / K); :meth:`means` corrects for this.

    Args:
        templates: Template of each pair, None or NaN if unknown.
        count: Number of draws.
        rng: Source of the draws.

    Attributes:
        unit: What is drawn: "template", "example", or "example of one template". An interval of the last kind holds for
            that template only, and is several times narrower than an interval over templates.
        units: Number of units.
    """

    def __init__(self, templates: Sequence[str | float | None], count: int, rng: np.random.Generator):
        distinct = len(set(templates)) if all(isinstance(template, str) for template in templates) else 0
        names = list(templates) if distinct > 1 else list(range(len(templates)))
        _, self._unit_of = np.unique(names, return_inverse=True)
        self.unit = ("example", "example of one template", "template")[min(distinct, 2)]
        self.units = int(self._unit_of.max()) + 1
        times = rng.multinomial(self.units, np.full(self.units, 1 / self.units), size=count)
        self._pairs = times @ np.bincount(self._unit_of, minlength=self.units)
        self._times = times.astype(np.uint16)  # how often each unit is drawn; uint16, as those of all subsets are kept
        self._spread = np.sqrt(self.units / max(self.units - 1, 1))

    def means(self, values: np.ndarray) -> np.ndarray:
        """Compute the mean of `values`, [pairs, ...], in each draw: [count, ...]."""
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
    """Compute the 95 % interval of a weighted sum of independent parts, such as the mean over the subsets of a group.

    Percentiles of bootstrap draws do not account for small samples as Student's t does: with two templates, the
    interval would cover the true value only half of the time. The interval of the sum is therefore widened to that of a
    t distribution with Satterthwaite's degrees of freedom, but no more than if all units varied equally: the variance
    of a part of two units is often underestimated, which would give the degrees of freedom of the other parts. The
    factor is close to 1 for a hundred units, and about 6 for a single part of two units.

    Args:
        parts: Draws of each part, [count, ...]. Parts are read one at a time.
        units: Number of units of each part.
        observed: Observed value of the sum, [...].
        weights: Weight of each part; by default all are 1 / number of parts.

    Returns:
        Lower and upper end, [...].
    """
    weights = np.full(len(units), 1 / len(units)) if weights is None else np.array(weights)
    total, variances = None, []
    for weight, part in zip(weights, parts, strict=True):
        weighted = weight * part
        variances.append(weighted.var(axis=0))
        total = weighted if total is None else np.add(total, weighted, out=total)
    low, high = percentiles(total)
    if_equal = _satterthwaite(weights**2 / np.array(units), units)
    degrees = np.minimum(_satterthwaite(variances, units), if_equal)
    factor = scipy.stats.t.ppf(HIGH_PERCENTILE / 100, degrees) / scipy.stats.norm.ppf(HIGH_PERCENTILE / 100)
    return observed + factor * (low - observed), observed + factor * (high - observed)


def degrees_of_freedom(parts: Sequence[np.ndarray], units: Sequence[int]) -> np.ndarray:
    """Compute Satterthwaite's (1946) degrees of freedom for the variance of a sum of independent parts.

    Args:
        parts: Draws of each part, [count, ...].
        units: Number of units of each part.

    Returns:
        Degrees of freedom, [...].
    """
    return _satterthwaite([part.var(axis=0) for part in parts], units)


def _satterthwaite(variances: Sequence[np.ndarray], units: Sequence[int]) -> np.ndarray:
    variances = np.array(variances)
    degrees = np.maximum(np.array(units, dtype=float) - 1, 1).reshape(-1, *[1] * (variances.ndim - 1))
    total, shares = variances.sum(axis=0), (variances**2 / degrees).sum(axis=0)
    return np.where(shares > 0, total**2 / np.where(shares > 0, shares, 1), degrees.min())


def bound_accuracy_interval(low: np.ndarray, high: np.ndarray, units: int) -> tuple[np.ndarray, np.ndarray]:
    """Clip intervals of an accuracy to 0-100 %, and widen intervals of no width at 0 or 100 % to Wilson's bound.

    If all pairs are right, or all are wrong, so are those of every bootstrap draw, however few pairs there are.

    Args:
        low: Lower ends, percent.
        high: Upper ends, percent.
        units: Number of units.

    Returns:
        Lower and upper ends, percent.
    """
    low, high = np.clip(low, 0, 100), np.clip(high, 0, 100)
    return np.where(low == 100, 100 - wilson_zero_bound(units), low), np.where(
        high == 0, wilson_zero_bound(units), high
    )


def logit_interval(value: np.ndarray, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Move intervals of a percentage to the logit scale, where errors near 0 and 100 % are closer to symmetric.

    The distance of each end from the value is divided by the derivative of the percentage with respect to its logit
    (delta method; for AUC see Pepe 2003 and Qin and Hotilovac 2008). Values of 0 and 100 % have no logit and keep their
    intervals.

    Args:
        value: Values, percent.
        low: Lower ends of their intervals, percent.
        high: Upper ends, percent.

    Returns:
        Lower and upper ends, percent.
    """
    inside = (value > FLAT_TOLERANCE) & (value < 100 - FLAT_TOLERANCE)
    share = np.where(inside, value, 50) / 100
    slope = 100 * share * (1 - share)
    logit = scipy.special.logit(share)
    ends = (100 * scipy.special.expit(logit + (end - value) / slope) for end in (low, high))
    low, high = (np.where(inside, end, kept) for end, kept in zip(ends, (low, high), strict=True))
    return low, high


def widen_change_interval(
    low: np.ndarray, high: np.ndarray, units: int, changes: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Widen intervals of no width of a change of accuracy by Wilson's bound for each change, and clip all intervals.

    If two models agree on every pair, they agree in every bootstrap draw. See also :func:`bound_accuracy_interval`.
    No change exceeds 100 points.

    Args:
        low: Lower ends, points.
        high: Upper ends, points.
        units: Number of units.
        changes: Number of changes that each value is the sum of; 0 for a model compared with itself.

    Returns:
        Lower and upper ends, points.
    """
    half_width = np.where(high - low < 1e-9, changes * wilson_zero_bound(units), 0)
    return clip_change(low - half_width, changes, 100), clip_change(high + half_width, changes, 100)


def clip_change(value: np.ndarray, changes: np.ndarray, limit: float) -> np.ndarray:
    """Clip a sum of changes to its largest possible size.

    Args:
        value: Sums of changes.
        changes: Number of changes that each value is the sum of.
        limit: Largest possible size of one change.

    Returns:
        Clipped values.
    """
    largest = limit * np.maximum(changes, 1)
    return np.clip(value, -largest, largest)


def wilson_zero_bound(units: int) -> float:
    """Return the upper end, percent, of Wilson's 95 % interval of a share when it is 0 of `units` observations."""
    z = scipy.stats.norm.ppf(HIGH_PERCENTILE / 100) ** 2
    return 100 * z / (units + z)


def widen_flat_sides(
    ends: tuple[np.ndarray, np.ndarray],
    parts: Sequence[np.ndarray],
    units: Sequence[int],
    weights: Sequence[float],
    sides: Sequence[str],
    flat_distances: FlatDistances,
) -> tuple[np.ndarray, np.ndarray]:
    """Widen an interval for the sides of a sum, such as classes of pairs, whose draws are all equal.

    Unseen pairs may still differ. Errors of different sides are independent, so distances from the value are added in
    quadrature (Newcombe 1998).

    Args:
        ends: Distances of the lower and of the upper end from the value, as obtained from the draws.
        parts: Draws of each part, [count, ...], as for :func:`sum_interval`.
        units: Number of units of each part.
        weights: Weight of each part.
        sides: Side of each part.
        flat_distances: Function of the index of a side's first part and of the side's number of units. Returns how far
            the side may lie below and above its value if its draws are all equal.

    Returns:
        Distances of the lower and of the upper end from the value.
    """
    below, above = (end**2 for end in ends)
    for side in dict.fromkeys(sides):
        members = [k for k, other_side in enumerate(sides) if other_side == side]
        flat = np.ptp(sum(weights[k] * parts[k] for k in members), axis=0) < FLAT_TOLERANCE
        down, up = flat_distances(members[0], sum(units[k] for k in members))
        below, above = below + np.where(flat, down, 0) ** 2, above + np.where(flat, up, 0) ** 2
    return np.sqrt(below), np.sqrt(above)


def bonferroni_interval(value: pd.Series, low: pd.Series, high: pd.Series) -> tuple[pd.Series, pd.Series]:
    """Compute simultaneous 95 % intervals of several values from the interval of each (Bonferroni, normal).

    Args:
        value: Values.
        low: Lower ends of the values' 95 % intervals.
        high: Upper ends.

    Returns:
        Lower and upper ends. All intervals together hold with 95 % confidence.
    """
    factor = scipy.stats.norm.ppf(1 - LOW_PERCENTILE / 100 / len(value)) / scipy.stats.norm.ppf(HIGH_PERCENTILE / 100)
    return value - factor * (value - low), value + factor * (high - value)


def difference_interval(a: Sequence[float], b: Sequence[float]) -> tuple[float, float]:
    """Compute the 95 % interval of b - a from independent, possibly asymmetric intervals of a and b (Zou 2007).

    Args:
        a: Value, and the lower and upper end of its 95 % interval.
        b: The same of the other value.

    Returns:
        Lower and upper end.
    """
    (value_a, low_a, high_a), (value_b, low_b, high_b) = a, b
    below, above = np.hypot(value_b - low_b, high_a - value_a), np.hypot(high_b - value_b, value_a - low_a)
    return value_b - value_a - below, value_b - value_a + above


def percentiles(draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compute the 2.5th and 97.5th percentiles of `draws`, [count, ...], over the first axis."""
    low, high = np.percentile(draws, [LOW_PERCENTILE, HIGH_PERCENTILE], axis=0)
    return low, high
