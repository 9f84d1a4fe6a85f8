"""Estimates over training seeds: a mean, the lowest or highest mean of several conditions, and the worst model."""

from collections.abc import Mapping, Sequence

import numpy as np

from heuristic_core.stats.estimates import Estimate, NotComputable, TooFewUnits
from heuristic_core.stats.means import UNLIMITED, bound_mean
from heuristic_core.stats.seeds import CONFIDENCE_LEVEL

TRAINING_SEEDS, MODELS = "training seeds", "models"
LOWEST, HIGHEST = "lowest", "highest"
TAIL_TESTS = 4  # far in the tail skewness costs more coverage; with 3, 6.2 % of ten groups of ten losses are decided
PERCENT = (0.0, 100.0)


def extreme_model(groups: Mapping[str, Sequence[float]], which: str, detail: str) -> Estimate:
    """Return the lowest or highest value of any model: exact, as it is about these models and no others.

    Args:
        groups: Value of each model by group, such as a condition; NaN if a model has none.
        which: `LOWEST` or `HIGHEST`.
        detail: Text to report with the value.

    Raises:
        NotComputable: If no model has a value.
    """
    values = {(name, k): value for name, group in groups.items() for k, value in enumerate(group) if value == value}
    if not values:
        raise NotComputable(f"no model has a value: {detail}")
    name, k = (min if which == LOWEST else max)(values, key=values.get)
    label = f"{which}: {name}" if len(groups) > 1 else ""
    text = "; ".join(filter(None, (label, detail)))
    return Estimate(float(values[name, k]), n=len(values), unit=MODELS, detail=text, exact=True)


def mean_over_seeds(values: Sequence[float], detail: str, limits: tuple[float, float] = UNLIMITED) -> Estimate:
    """Estimate the mean over seeds with its interval.

    Args:
        values: Value of each seed, [seeds]; NaN if a seed has none.
        detail: Text to report with the estimate.
        limits: Smallest and largest possible value, as for :func:`extreme_mean`.

    Raises:
        NotComputable: If no seed has a value.
    """
    return extreme_mean({"": values}, LOWEST, detail, limits)


def extreme_mean(
    groups: Mapping[str, Sequence[float]], which: str, detail: str, limits: tuple[float, float] = UNLIMITED
) -> Estimate:
    """Estimate the lowest (or highest) of several groups' means over seeds, with its interval (:func:`bound_mean`).

    The lowest mean is above a threshold if all means are, so the lower end is the lowest of the groups' lower ends. It
    is below a threshold if any mean is, so the upper end is the lowest of the groups' upper ends, corrected for
    `TAIL_TESTS` times the number of groups (Bonferroni). For the highest mean, both are reversed. The `n` of the
    estimate is the number of seeds of the smallest group.

    A group has no interval if it has fewer than two seeds, or if its seeds agree exactly anywhere but at a limit, since
    they may agree by chance. A seed is one observation, however many facts or lists are behind its value: they are not
    independent.

    Args:
        groups: Value of each seed by group, such as a condition; NaN if a seed has none.
        which: `LOWEST` or `HIGHEST`.
        detail: Text to report with the estimate.
        limits: Smallest and largest possible value, such as `PERCENT`; they may be infinite.

    Raises:
        ValueError: If `which` is neither `LOWEST` nor `HIGHEST`.
        NotComputable: If no group has a value.
        TooFewUnits: If some groups have no value, since theirs could be the lowest (or highest) mean.
    """
    if which not in (LOWEST, HIGHEST):
        raise ValueError(f"{which!r} is not possible; give {LOWEST} or {HIGHEST}")
    samples = {name: np.asarray(values, dtype=float) for name, values in groups.items()}
    samples = {name: values[~np.isnan(values)] for name, values in samples.items()}
    empty = [name for name, values in samples.items() if not len(values)]
    if len(empty) == len(samples):
        raise NotComputable(f"no seed has a value: {detail}")
    if empty:
        raise TooFewUnits(f"no seed has a value of {', '.join(empty)}: {detail}")
    means = {name: values.mean() for name, values in samples.items()}
    extreme, array_extreme = (min, np.min) if which == LOWEST else (max, np.max)
    selected = extreme(means, key=means.get)
    tail = (1 - CONFIDENCE_LEVEL) / 2
    corrected = tail / (TAIL_TESTS * len(samples)) if len(samples) > 1 else tail
    tails = (tail, corrected) if which == LOWEST else (corrected, tail)
    ends = np.array(
        [[bound_mean(values, quantile, limits) for quantile in (tails[0], 1 - tails[1])] for values in samples.values()]
    )
    low, high = array_extreme(ends, axis=0)  # NaN if any is
    label = f"{which}: {selected}" if len(samples) > 1 else ""
    return Estimate(
        float(means[selected]),
        *((None, None) if np.isnan([low, high]).any() else (float(low), float(high))),
        min(map(len, samples.values())),
        TRAINING_SEEDS,
        "; ".join(filter(None, (label, detail))),
    )
