"""Intervals over seeds: Student's t, since there are too few seeds for a bootstrap."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import scipy  # loads scipy.stats on first use: Snakemake imports this module at every start

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

CONFIDENCE_LEVEL = 0.95
PRUNING_SEEDS, FINE_TUNING_SEEDS = "pruning seeds", "fine-tuning seeds"  # names of the units of an interval


def mean_interval(values: "ArrayLike") -> tuple[float, float, float]:
    """Compute the mean over seeds and its 95 % t interval.

    Args:
        values: Value of each seed, [seeds].

    Returns:
        Mean, lower end, upper end. The ends are NaN for fewer than two seeds, and the mean is NaN for none.
    """
    values = np.asarray(values, dtype=float)
    if len(values) == 0:
        return (np.nan,) * 3
    mean = values.mean()
    if len(values) < 2:
        return mean, np.nan, np.nan
    half = t_half_width(values.std(ddof=1), len(values))
    return mean, mean - half, mean + half


def t_half_width(sd: float, n: int) -> float:
    """Compute half the width of the 95 % t interval of a mean.

    Args:
        sd: Standard deviation (ddof=1) of the values.
        n: Number of values, at least two.
    """
    return scipy.stats.t.ppf((1 + CONFIDENCE_LEVEL) / 2, n - 1) * sd / np.sqrt(n)


def estimate_standard_error(sd: float, n: int, pairs: float) -> tuple[float, float]:
    """Compute the standard error of a mean over seeds that share their evaluation pairs, and its degrees of freedom.

    The error over pairs is added in quadrature, with infinite degrees of freedom (Satterthwaite 1946).

    Args:
        sd: Standard deviation (ddof=1) over seeds.
        n: Number of seeds.
        pairs: Half width of the 95 % interval over pairs; NaN counts as 0.

    Returns:
        Standard error and degrees of freedom. NaN for fewer than two seeds or unknown `sd`. If all seeds are equal, the
        degrees of freedom are n - 1.
    """
    if n < 2 or np.isnan(sd):
        return np.nan, np.nan
    seed_error = sd / np.sqrt(n)
    error = np.hypot(seed_error, np.nan_to_num(pairs) / scipy.stats.norm.ppf((1 + CONFIDENCE_LEVEL) / 2))
    return float(error), float((n - 1) * (error / seed_error) ** 4 if seed_error > 0 else n - 1)


def welch_interval(a: Sequence[float], b: Sequence[float]) -> tuple[float, float]:
    """Compute Welch's 95 % t interval of b - a, which is normal for infinite degrees of freedom.

    Args:
        a: Value, standard error and degrees of freedom.
        b: The same of the other value.

    Returns:
        Lower and upper end. NaN if both standard errors are 0 or if one is unknown.
    """
    (value_a, error_a, df_a), (value_b, error_b, df_b) = a, b
    variances = np.array([error_a, error_b]) ** 2
    total = variances.sum()
    if not total > 0:  # unknown errors, or no observed spread, which may be by chance
        return np.nan, np.nan
    inverse = float((variances**2 / np.array([df_a, df_b])).sum()) / total**2  # Welch and Satterthwaite
    half = scipy.stats.t.ppf((1 + CONFIDENCE_LEVEL) / 2, 1 / inverse if inverse > 0 else np.inf) * np.sqrt(total)
    return value_b - value_a - half, value_b - value_a + half
