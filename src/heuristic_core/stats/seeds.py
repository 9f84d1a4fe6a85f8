"""Intervals over seeds: Student's t, as there are too few of them for a bootstrap."""

import numpy as np
import scipy  # loads scipy.stats where it is used: Snakemake reads this module at every start

CONFIDENCE_LEVEL = 0.95
PRUNING_SEEDS, FINE_TUNING_SEEDS = "pruning seeds", "fine-tuning seeds"  # units of an interval


def mean_interval(values) -> tuple[float, float, float]:
    """The mean of a value over seeds, and the ends of its 95 % interval: NaN for fewer than two seeds."""
    values = np.asarray(values, dtype=float)
    if len(values) == 0:
        return (np.nan,) * 3
    mean = values.mean()
    if len(values) < 2:
        return mean, np.nan, np.nan
    half = scipy.stats.t.ppf((1 + CONFIDENCE_LEVEL) / 2, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
    return mean, mean - half, mean + half
