"""Means over seeds of values of which some are known as bounds alone.

A bound is not a number: "above 80 %" may be 81 or 99. An interval must hold for all values that bounds allow. Its ends
are those of the mean of the least and of the most that each value may be, and its width is of the largest standard
deviation that they allow. So it is rather too wide, and never too narrow.
"""

import numpy as np
import scipy  # loads scipy.stats where it is used: Snakemake reads this module at every start

from heuristic_core.analysis.seeds import LEVEL

SAME = 1e-9


def interval_between(least: np.ndarray, most: np.ndarray, reach: np.ndarray | float = 0.0) -> tuple[float, float]:
    """The 95 % interval of the mean over seeds of values that are between `least` and `most`, one of each seed.

    It is Student's t interval, where all are known. NaN for fewer than two seeds, and for equal values, which say
    nothing of how much seeds differ.
    reach: half of each seed's own interval over evaluation pairs. Seeds share their pairs: these errors do not average
    out, and are independent of those of seeds, so that half-widths add up as squares.
    """
    least, most = (np.asarray(ends, dtype=float) for ends in (least, most))
    n = len(least)
    if n < 2 or (sd := largest_sd(least, most)) < SAME:
        return np.nan, np.nan
    half = scipy.stats.t.ppf((1 + LEVEL) / 2, n - 1) * sd / np.sqrt(n)
    half = np.hypot(half, np.mean(reach))
    return float(least.mean() - half), float(most.mean() + half)


def largest_sd(least: np.ndarray, most: np.ndarray) -> float:
    """The largest standard deviation (n-1) of values between `least` and `most`.

    There every value is at the end that is further from the mean: those with the lower middles at their least.
    """
    order = np.argsort(least + most, kind="stable")
    low, high = least[order], most[order]
    return max(np.concatenate([low[:k], high[k:]]).std(ddof=1) for k in range(len(low) + 1))
