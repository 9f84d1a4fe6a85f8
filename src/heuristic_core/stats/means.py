"""Ends of intervals of means over few values that may be skewed or pile up at a limit."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy import optimize, special

from heuristic_core.stats.seeds import CONFIDENCE_LEVEL

UNLIMITED = (-np.inf, np.inf)


def mean_interval(
    values: np.ndarray | pd.Series | Sequence[float], limits: tuple[float, float] = UNLIMITED
) -> tuple[float, float, float]:
    """Compute the mean over seeds and its 95 % interval (:func:`bound_mean`).

    Args:
        values: Value of each seed, [seeds].
        limits: Smallest and largest possible value; they may be infinite.

    Returns:
        Mean, lower end, upper end. The ends are NaN for fewer than two seeds, the mean for none.
    """
    values = np.asarray(values, dtype=float)
    if len(values) == 0:
        return (np.nan,) * 3
    tail = (1 - CONFIDENCE_LEVEL) / 2
    return values.mean(), *(bound_mean(values, level, limits) for level in (tail, 1 - tail))


def widen(value: float, low: float, high: float, half_width: float) -> tuple[float, float]:
    """Widen an interval over seeds by an error that all seeds share, such as the error of their evaluation pairs.

    The errors are independent, so distances from the value are added as squares.

    Args:
        value: Mean over seeds.
        low: Lower end over seeds.
        high: Upper end over seeds.
        half_width: Half width of the 95 % interval of the shared error; NaN counts as 0.

    Returns:
        Lower and upper end.
    """
    shared = np.nan_to_num(half_width)
    return float(value - np.hypot(value - low, shared)), float(value + np.hypot(high - value, shared))


def bound_mean(values: np.ndarray, quantile: float, limits: tuple[float, float]) -> float:
    """Compute one end of the interval of a mean.

    It is the wider of Student's and of :func:`bound_skewed_mean`, both for 95 %, and further out at other quantiles by
    as much as Student's is. If at least half of the values are at a limit, the others do not show how far values
    spread, and the end is :func:`bound_limited_mean`.

    Args:
        values: Values, [seeds].
        quantile: 0.025 for the lower end of a 95 % interval, 0.975 for the upper one, or further out.
        limits: Smallest and largest possible value; they may be infinite.

    Returns:
        The end; NaN for fewer than two values, and for equal values that are not at a limit.
    """
    n = len(values)
    if n < 2:
        return np.nan
    if 2 * sum(np.sum(values == limit) for limit in limits) >= n:
        return bound_limited_mean(values, quantile, limits)
    if np.ptp(values) == 0:
        return np.nan
    side = -1 if quantile < 0.5 else 1
    student = special.stdtrit(n - 1, CONFIDENCE_LEVEL / 2 + 0.5) * values.std(ddof=1) / np.sqrt(n)
    skewed = side * (bound_skewed_mean(values, 0.5 + side * CONFIDENCE_LEVEL / 2) - values.mean())
    further = special.stdtrit(n - 1, quantile) / special.stdtrit(n - 1, CONFIDENCE_LEVEL / 2 + 0.5)
    return float(np.clip(values.mean() + further * max(student, skewed), *limits))


def bound_skewed_mean(values: np.ndarray, quantile: float) -> float:
    """Compute one end of the interval of a mean of skewed values.

    A monotone cubic transformation removes the skewness of Student's statistic (Hall 1992, J. R. Stat. Soc. B 54, 221).
    Two values show no skewness; the end is then Student's. Beyond 95 % ends of few values go to infinity.

    Args:
        values: At least two values that are not all equal.
        quantile: 0.025 or 0.975.
    """
    n, error = len(values), values.std(ddof=1) / np.sqrt(len(values))
    # 1 / sqrt(n) times the skewness of values, over 3
    slope = ((values - values.mean()) ** 3).sum() / (3 * (n - 1) * (n - 2) * n * error**3) if n > 2 else 0.0
    statistic = special.stdtrit(n - 1, 1 - quantile)
    if abs(slope) > 1e-9:
        statistic = (np.cbrt(1 + 3 * slope * (statistic - slope / 2)) - 1) / slope
    return float(values.mean() - statistic * error)


def bound_limited_mean(values: np.ndarray, quantile: float, limits: tuple[float, float]) -> float:
    """Compute one end of the interval of a mean of limited values of any distribution.

    It is the quantile of the sum of the values and of the limit on its side, weighted by the spacings of uniform
    numbers (Gaffke 2005, Math. Methods Stat. 14, 451). For values that are all at a limit it equals the bound of
    Clopper and Pearson.

    Args:
        values: At least two values.
        quantile: As for :func:`bound_mean`.
        limits: As for :func:`bound_mean`. An infinite limit is the end on its side.
    """
    limit = limits[0] if quantile < 0.5 else limits[1]
    weighted = np.sort([*values, limit])
    if not np.isfinite(limit) or weighted[0] == weighted[-1]:
        return float(limit)
    scaled = ((weighted - weighted[0]) / np.ptp(weighted)).tolist()
    share = optimize.brentq(lambda x: _weighted_sum_below(x, scaled) - quantile, 0, 1, xtol=1e-7)
    return float(weighted[0] + share * np.ptp(weighted))


def _weighted_sum_below(x: float, ordered: list[float]) -> float:
    """Return the probability that ascending values, weighted by the spacings of uniform numbers, sum to at most `x`.

    It follows from those of fewer adjacent values, by the recursion of B-splines.
    """
    below = [float(value <= x) for value in ordered]
    for width in range(1, len(ordered)):
        below = [
            ((x - first) * low + (last - x) * high) / (last - first) if first <= x < last else float(x >= last)
            for first, last, low, high in zip(ordered[:-width], ordered[width:], below[:-1], below[1:], strict=True)
        ]
    return below[0]
