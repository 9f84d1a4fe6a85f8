"""Intervals of means over seeds whose values are limited, and of which some are known only as bounds.

A bound such as "above 80 %" may stand for 81 or 99, and an interval must hold for all values that the bounds allow. The
lower end is computed from the lower bounds, the upper end from the upper bounds.
"""

import numpy as np

from heuristic_core.stats.means import bound_limited_mean, widen

MIN_SEEDS = 6  # for an interval; of three seeds with equal values it would cover most of the range
LEVELS = (0.025, 0.975)


def compute_bounded_interval(
    least: np.ndarray,
    most: np.ndarray,
    half_width: np.ndarray | float = 0.0,
    limits: tuple[float, float] = (0.0, 100.0),
) -> tuple[float, float]:
    """Compute the 95 % interval of the mean over seeds of values between `least` and `most`.

    It holds for any distribution between the limits, see :func:`heuristic_core.stats.means.bound_limited_mean`. Sizes
    have one of two values, a small one or a large one, and seeds may miss one of them.

    Args:
        least: Lower bound of each seed's value, [seeds].
        most: Upper bound of each seed's value, [seeds].
        half_width: Half width of each seed's interval over evaluation pairs. Seeds share their pairs, so these errors
            do not average out, and the mean half width is used. They are independent of the errors over seeds, so it is
            added in quadrature.
        limits: Smallest and largest possible value.

    Returns:
        Lower and upper end. NaN for fewer than `MIN_SEEDS` seeds, or if a bound is NaN.
    """
    least, most = (np.asarray(ends, dtype=float) for ends in (least, most))
    if len(least) < MIN_SEEDS or np.isnan([least, most]).any():
        return np.nan, np.nan
    low, high = (bound_limited_mean(values, level, limits) for values, level in zip((least, most), LEVELS, strict=True))
    low, _ = widen(least.mean(), low, high, np.mean(half_width))
    _, high = widen(most.mean(), low, high, np.mean(half_width))
    return max(low, limits[0]), min(high, limits[1])
