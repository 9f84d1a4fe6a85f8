"""The median absolute difference of two random draws: a measure of spread that is robust to outliers."""

import numpy as np
import scipy  # loads scipy.stats on first use: Snakemake imports this module at every start


def median_difference_interval(values: np.ndarray, errors: np.ndarray) -> tuple[float, float, float]:
    """Compute the median absolute difference of two values drawn at random, and its 95 % interval.

    The median is 0.954 standard deviations for a normal distribution. The interval inverts a test: it contains each
    difference for which the share of smaller differences is compatible with one half. This share is a U-statistic; its
    jackknife standard error is rescaled to a share of one half. Student's t has ``n // 2 - 1`` degrees of freedom,
    since `n` values have ``n // 2`` independent differences. Measurement errors make differences larger, so for the
    lower end their variance is subtracted from the squared differences. If no values differ, as where all are at a
    limit, the upper end is the median difference that measurement errors alone would make.

    Args:
        values: At least eight values, [n].
        errors: Standard error of each value, [n], in the unit of the values.

    Returns:
        Median, lower end, upper end.
    """
    n, matrix = len(values), np.abs(values[:, np.newaxis] - values)
    pairs = np.triu_indices(n, 1)
    variances = errors[:, np.newaxis] ** 2 + errors**2
    low, _ = _invert(np.sqrt(np.maximum(matrix**2 - variances, 0)), n)
    _, high = _invert(matrix, n)
    if not matrix.any():
        high = float(scipy.stats.norm.ppf(0.75) * np.sqrt(np.median(variances[pairs])))
    return float(np.median(matrix[pairs])), low, high


def _invert(matrix: np.ndarray, n: int) -> tuple[float, float]:
    """Return the ends of the interval of the median of the differences in `matrix`, [n, n], diagonal 0."""
    candidates = np.unique(matrix[np.triu_indices(n, 1)])
    smaller = ((matrix <= candidates[:, np.newaxis, np.newaxis]).sum(axis=2) - 1) / (n - 1)  # [candidates, values]
    share = smaller.mean(axis=1)
    variance = 4 * (n - 1) / (n * (n - 2) ** 2) * ((smaller - share[:, np.newaxis]) ** 2).sum(axis=1)
    at_half = variance / np.maximum(4 * share * (1 - share), 1 / n**2)
    error = np.sqrt(np.maximum(at_half, 1 / (2 * n * (n - 1))))  # at least that of independent differences
    limit = scipy.stats.t.ppf(0.975, n // 2 - 1)
    t = (share - 0.5) / error
    return float(candidates[np.argmax(t > -limit)]), float(candidates[np.argmax(t > limit)])
