"""Intervals over seeds: Student's t, as there are too few of them for a bootstrap."""

from collections.abc import Sequence

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
    half = t_half_width(values.std(ddof=1), len(values))
    return mean, mean - half, mean + half


def t_half_width(sd: float, n: int) -> float:
    """Half of the 95 % t interval of the mean of `n` values, at least two, with standard deviation `sd` (n-1)."""
    return scipy.stats.t.ppf((1 + CONFIDENCE_LEVEL) / 2, n - 1) * sd / np.sqrt(n)


def estimate_standard_error(sd: float, n: int, pairs: float) -> tuple[float, float]:
    """The standard error of a mean over seeds that share their evaluation pairs, and its degrees of freedom.

    sd: standard deviation (n-1) over `n` seeds. pairs: half of the 95 % interval over pairs, NaN counts as 0; its error
    has infinitely many degrees of freedom (Satterthwaite 1946). NaN below two seeds.
    """
    if n < 2 or np.isnan(sd):
        return np.nan, np.nan
    of_seeds = sd / np.sqrt(n)
    error = np.hypot(of_seeds, np.nan_to_num(pairs) / scipy.stats.norm.ppf((1 + CONFIDENCE_LEVEL) / 2))
    return float(error), float((n - 1) * (error / of_seeds) ** 4 if of_seeds > 0 else n - 1)


def welch_interval(a: Sequence[float], b: Sequence[float]) -> tuple[float, float]:
    """The 95 % interval of b - a: Welch's t, which is normal for infinite degrees of freedom.

    a, b: value, standard error and degrees of freedom.
    """
    (value_a, error_a, df_a), (value_b, error_b, df_b) = a, b
    variances = np.array([error_a, error_b]) ** 2
    total = variances.sum()
    if not total > 0:  # unknown, or no observed spread, which does not prove that there is none
        return np.nan, np.nan
    inverse = float((variances**2 / np.array([df_a, df_b])).sum()) / total**2  # Welch and Satterthwaite
    half = scipy.stats.t.ppf((1 + CONFIDENCE_LEVEL) / 2, 1 / inverse if inverse > 0 else np.inf) * np.sqrt(total)
    return value_b - value_a - half, value_b - value_a + half
