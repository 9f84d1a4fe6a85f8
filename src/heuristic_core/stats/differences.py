"""The median difference of two draws: a measure of spread that a few outliers do not move."""

import numpy as np
import scipy  # loads scipy.stats where it is used: Snakemake reads this module at every start


def median_difference_interval(values: np.ndarray, errors: np.ndarray) -> tuple[float, float, float]:
    """Compute the median absolute difference of two values drawn at random, and its 95 % interval.

    For a normal distribution it is 0.954 standard deviations. The interval holds the differences than which half of all
    differences may be smaller. The share of smaller differences is a U-statistic with the jackknife's error, as it is
    where the share is one half. Student's t has ``n // 2 - 1`` degrees of freedom, as `n` values have ``n // 2``
    independent differences. Errors of measurement make differences larger: the lower end is of squared differences less
    the variance of these errors.

    Args:
        values: At least eight values.
        errors: Standard error of each value.

    Returns:
        Median, lower end, upper end.
    """
    n, matrix = len(values), np.abs(values[:, np.newaxis] - values)
    pairs = np.triu_indices(n, 1)
    variances = errors[:, np.newaxis] ** 2 + errors**2
    low, _ = _invert(np.sqrt(np.maximum(matrix**2 - variances, 0)), n)
    _, high = _invert(matrix, n)
    return float(np.median(matrix[pairs])), low, high


def _invert(matrix: np.ndarray, n: int) -> tuple[float, float]:
    """Return the ends of the interval of the median of the differences in `matrix`, [n, n], diagonal 0."""
    candidates = np.unique(matrix[np.triu_indices(n, 1)])
    smaller = ((matrix <= candidates[:, np.newaxis, np.newaxis]).sum(axis=2) - 1) / (n - 1)  # [candidates, values]
    share = smaller.mean(axis=1)
    variance = 4 * (n - 1) / (n * (n - 2) ** 2) * ((smaller - share[:, np.newaxis]) ** 2).sum(axis=1)
    at_half = variance / np.maximum(4 * share * (1 - share), 1 / n**2)
    error = np.sqrt(np.maximum(at_half, 1 / (2 * n * (n - 1))))  # no less than of independent differences
    limit = scipy.stats.t.ppf(0.975, n // 2 - 1)
    t = (share - 0.5) / error
    return float(candidates[np.argmax(t > -limit)]), float(candidates[np.argmax(t > limit)])
