"""Estimates over training seeds: the mean of a value, and the lowest or highest mean of several conditions."""

from collections.abc import Mapping, Sequence

import numpy as np
from scipy import stats

from heuristic_core.stats.estimates import Estimate, NotComputable, TooFewUnits
from heuristic_core.stats.seeds import CONFIDENCE_LEVEL

TRAINING_SEEDS = "training seeds"
LOWEST, HIGHEST = "lowest", "highest"


def mean_over_seeds(values: Sequence[float], detail: str, percent: bool = False) -> Estimate:
    """Estimate the mean over seeds with its t interval.

    Args:
        values: Value of each seed, [seeds]; NaN if a seed has none.
        detail: Text to report with the estimate.
        percent: Whether values are limited to 0-100, as for :func:`extreme_mean`.

    Raises:
        NotComputable: If no seed has a value.
    """
    return extreme_mean({"": values}, LOWEST, detail, percent)


def extreme_mean(
    groups: Mapping[str, Sequence[float]], which: str, detail: str, percent: bool = False, units: int = 1
) -> Estimate:
    """Estimate the lowest (or highest) of several groups' means over seeds, with its t interval.

    The lowest mean is above a threshold if all means are, so the lower end is the lowest of the groups' lower ends. It
    is below a threshold if any mean is, so the upper end is the lowest of the groups' upper ends, corrected for the
    number of groups (Bonferroni). For the highest mean, both are reversed. The `n` of the estimate is the number of
    seeds of the smallest group.

    A group has no interval if it has fewer than two seeds, or if its seeds agree exactly, since they may agree by
    chance. With `percent`, if all of its seeds are at 0 or all are at 100, its interval extends to Wilson's bound
    instead.

    Args:
        groups: Value of each seed by group, such as a condition; NaN if a seed has none.
        which: `LOWEST` or `HIGHEST`.
        detail: Text to report with the estimate.
        percent: Whether values are limited to 0-100. The interval is clipped to this range.
        units: Number of independent observations behind each seed's value, for Wilson's bound; 1 for the seed itself.

    Raises:
        ValueError: If `which` is neither `LOWEST` nor `HIGHEST`.
        NotComputable: If no group has a value.
        TooFewUnits: If some groups have no value, since theirs could be the lowest (or highest) mean.
    """
    if which not in (LOWEST, HIGHEST):
        raise ValueError(f"{which!r} is not possible; give {LOWEST} or {HIGHEST}")
    sign = 1 if which == LOWEST else -1
    samples = {name: sign * np.asarray(values, dtype=float) for name, values in groups.items()}
    samples = {name: values[~np.isnan(values)] for name, values in samples.items()}
    empty = [name for name, values in samples.items() if not len(values)]
    if len(empty) == len(samples):
        raise NotComputable(f"no seed has a value: {detail}")
    if empty:
        raise TooFewUnits(f"no seed has a value of {', '.join(empty)}: {detail}")
    means = {name: values.mean() for name, values in samples.items()}
    selected = min(means, key=means.get)
    tail = (1 - CONFIDENCE_LEVEL) / 2
    units = units if percent else 0
    low = np.min([_end(values, tail, units) for values in samples.values()])  # NaN if any is
    high = np.min([_end(values, 1 - tail / len(samples), units) for values in samples.values()])
    if np.isnan([low, high]).any():
        low = high = np.nan
    low, high = sorted((sign * low, sign * high))
    if percent:
        low, high = np.clip([low, high], 0, 100)
    label = f"{which}: {selected}" if len(samples) > 1 else ""
    n = min(map(len, samples.values()))
    return Estimate(
        float(sign * means[selected]) + 0.0,
        *map(_null, (low, high)),
        n,
        TRAINING_SEEDS,
        "; ".join(filter(None, (label, detail))),
    )


def _end(values: np.ndarray, quantile: float, units: int) -> float:
    """Return one end of the t interval of a mean, NaN if there is none; `units` is for Wilson's bound, 0 for none."""
    if len(values) < 2:
        return np.nan
    if np.ptp(values) == 0:
        z = stats.norm.ppf(quantile)
        bound = np.sign(z) * 100 * z**2 / (len(values) * units + z**2)
        return values[0] + bound if units and abs(values[0]) in (0, 100) else np.nan
    error = values.std(ddof=1) / np.sqrt(len(values))
    return values.mean() + stats.t.ppf(quantile, len(values) - 1) * error


def _null(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
