"""Estimates over training seeds: the mean of a value, and the condition that has least or most of it."""

from collections.abc import Mapping, Sequence

import numpy as np
from scipy import stats

from heuristic_core.stats.estimates import Estimate, NotComputable, TooFewUnits
from heuristic_core.stats.seeds import CONFIDENCE_LEVEL

TRAINING_SEEDS = "training seeds"
LOWEST, HIGHEST = "lowest", "highest"


def mean_over_seeds(values: Sequence[float], detail: str, percent: bool = False) -> Estimate:
    """The mean over seeds with its t interval, as the only group of :func:`extreme_mean`."""
    return extreme_mean({"": values}, LOWEST, detail, percent)


def extreme_mean(
    groups: Mapping[str, Sequence[float]], which: str, detail: str, percent: bool = False, units: int = 1
) -> Estimate:
    """The lowest (or highest) mean over seeds of several groups, such as conditions, with t intervals.

    Seeds that agree exactly have no interval, as they may agree by chance. percent: no value is possible beyond 0 and
    100; where all seeds are at 0 or 100, the interval reaches to Wilson's bound of a share that `units` observations
    for each seed may not show. units: independent observations behind a seed's value; 1: the seed itself.
    Raises NotComputable without a value, and TooFewUnits where some group has none: it might be the lowest.

    The lowest mean is above a threshold where all means are, so that the lower end is the lowest of the groups' own.
    It is below a threshold where any mean is: the upper end allows for as many chances as there are groups
    (Bonferroni). The other way round for the highest. n: seeds of the group with fewest.
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
    low = min(_end(values, tail, units) for values in samples.values())
    high = min(_end(values, 1 - tail / len(samples), units) for values in samples.values())
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
    """One end of the t interval of a mean; NaN where there is none. units: of Wilson's bound, 0 for no such bound."""
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
