"""Intervals of means over seeds when some values are known only as bounds.

A bound such as "above 80 %" may stand for 81 or 99, and an interval must hold for all values that the bounds allow. It
extends from the mean of the lower bounds to the mean of the upper bounds, and is widened according to the largest
standard deviation that the bounds allow. It is therefore conservative: possibly too wide, never too narrow.
"""

import numpy as np

from heuristic_core.stats.seeds import t_half_width

MIN_SD = 1e-9  # values with a smaller standard deviation count as equal


def compute_bounded_interval(
    least: np.ndarray, most: np.ndarray, half_width: np.ndarray | float = 0.0
) -> tuple[float, float]:
    """Compute the 95 % interval of the mean over seeds of values between `least` and `most`.

    If all values are known and `half_width` is 0, it is Student's t interval.

    Args:
        least: Lower bound of each seed's value, [seeds].
        most: Upper bound of each seed's value, [seeds].
        half_width: Half width of each seed's interval over evaluation pairs. Seeds share their pairs, so these errors
            do not average out, and the mean half width is used. They are independent of the errors over seeds, so it is
            added in quadrature.

    Returns:
        Lower and upper end. NaN for fewer than two seeds, and for equal values, which do not show how much seeds vary.
    """
    least, most = (np.asarray(ends, dtype=float) for ends in (least, most))
    n = len(least)
    if n < 2 or (sd := largest_sd(least, most)) < MIN_SD:
        return np.nan, np.nan
    half = np.hypot(t_half_width(sd, n), np.mean(half_width))
    return float(least.mean() - half), float(most.mean() + half)


def largest_sd(least: np.ndarray, most: np.ndarray) -> float:
    """Return the largest standard deviation (ddof=1) of values between `least` and `most`.

    It is attained with every value at one of its bounds: those with the lower midpoints at `least`, the others at
    `most`.

    Args:
        least: Lower bound of each value, [values].
        most: Upper bound of each value, [values].
    """
    order = np.argsort(least + most, kind="stable")
    low, high = least[order], most[order]
    return max(np.concatenate([low[:k], high[k:]]).std(ddof=1) for k in range(len(low) + 1))
