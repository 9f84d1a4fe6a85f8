"""Intervals over seeds: Student's t, as there are too few of them for a bootstrap."""

import numpy as np
from scipy import stats

LEVEL = 0.95


def mean_interval(values, level: float = LEVEL) -> tuple[float, float, float]:
    """Mean, and the ends of its confidence interval (NaN for fewer than two values), over seeds."""
    values = np.asarray(values, dtype=float)
    if len(values) == 0:
        return (np.nan,) * 3
    mean = values.mean()
    if len(values) < 2:
        return mean, np.nan, np.nan
    half = stats.t.ppf((1 + level) / 2, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
    return mean, mean - half, mean + half
