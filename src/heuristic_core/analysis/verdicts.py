"""The rule of verdicts, which claims.yaml states: of one seed, and of a study over its seeds."""

import operator
from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy import stats

from heuristic_core.analysis.estimates import Estimate
from heuristic_core.analysis.seeds import mean_interval

VERDICTS = ("supported", "not supported", "undecided", "not applicable")
SUPPORTED, NOT_SUPPORTED, UNDECIDED, NOT_APPLICABLE = VERDICTS
MOST = 1 - 1e-4  # as near to 1 as permutations tell
OPERATORS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


def is_test(threshold: str) -> bool:
    """Whether the estimate is a p, as in "p < 0.05"."""
    return threshold.startswith("p ")


def verdict(found: Estimate, threshold: str) -> str:
    """Whether an estimate supports a claim: one of `VERDICTS`. threshold: such as "> 20 %" or "p < 0.05"."""
    sign, level, *_ = threshold.removeprefix("p ").split()
    holds, level = OPERATORS[sign], float(level)
    if is_test(threshold):
        against = found.opposite is not None and holds(found.opposite, level)
        # Equal answers are no answer: neither tail is below the level, or a level above one half accepts both.
        return UNDECIDED if holds(found.value, level) == against else NOT_SUPPORTED if against else SUPPORTED
    values = [found.value] if found.exact else [found.value, found.low, found.high]
    if pd.isna(values).any():
        return UNDECIDED
    kept = [holds(value, level) for value in values]
    return SUPPORTED if all(kept) else UNDECIDED if any(kept) else NOT_SUPPORTED


def over_seeds(found: Sequence[Estimate], threshold: str, unit: str) -> Estimate:
    """The estimates of at least two seeds as one. unit: what the seeds are, such as "fine-tuning seeds".

    Values give their mean with its t interval. Tests give the combined p (Stouffer et al. 1949), and other tails
    theirs: seeds that contradict each other cancel out, which in Fisher's sum of logarithms they do not.
    """
    values = [one.value for one in found]
    if is_test(threshold):
        others = [one.opposite for one in found if one.opposite is not None]
        opposite = _combined(others) if len(others) == len(found) else None
        combined = f"{unit}, whose p are combined"
        return Estimate(_combined(values), n=len(found), unit=combined, exact=True, opposite=opposite)
    mean, low, high = mean_interval(pd.Series(values, dtype=float))
    ends = np.array([[one.value] * 2 if one.exact else [one.low, one.high] for one in found], dtype=float)
    if len(set(values)) == 1:  # counts, or seeds at one floor: a t interval would have no width
        low, high = ends[:, 0].min(), ends[:, 1].max()
    else:  # two seeds can agree by chance; no mean is known better than the seeds' own intervals tell
        own = np.sqrt(((ends - np.array(values, dtype=float)[:, None]) ** 2).sum(axis=0)) / len(found)
        low, high = np.fmin(low, mean - own[0]), np.fmax(high, mean + own[1])
    if threshold.endswith("%") and min(values) >= 0:  # few seeds reach beyond what a percentage can be
        low, high = max(low, 0.0), min(high, 100.0) if max(values) <= 100 else high
    return Estimate(mean, low, high, len(found), unit)


def _combined(p: Sequence[float]) -> float:
    # The p of a discrete test can be 1, which no other seed could make up for.
    return float(stats.combine_pvalues(np.minimum(p, MOST), method="stouffer").pvalue)
