"""Decide verdicts on claims, combine estimates over seeds, and adjust p-values for the number of claims."""

import operator
from collections.abc import Sequence

import numpy as np
import pandas as pd
import scipy  # loads scipy.stats on first use: Snakemake imports this module at every start

from heuristic_core.stats.estimates import DOES_NOT_APPLY, FAILED_RUNS, NOT_RUN, TOO_FEW, Estimate
from heuristic_core.stats.seeds import MIN_SD, PRUNING_SEEDS, t_half_width

SUPPORTED, CONTRADICTED, NOT_CLEAR = "supported", "contradicted", "not clear"
VERDICT_MEANINGS = {
    SUPPORTED: "the 95 % interval keeps the threshold; of a test, p < 0.05 in the stated direction",
    CONTRADICTED: "the interval breaks the threshold; of a test, p < 0.05 in the other direction",
    NOT_CLEAR: "the interval includes the threshold; of a test, p ≥ 0.05",
    TOO_FEW: "too few seeds, random sets, heads or checkpoints for an interval, or for a p below 0.05",
    FAILED_RUNS: "the runs that the claim rests on failed, collapsed or missed their target, or the model is at chance",
    NOT_RUN: "the study lacks results that the claim needs",
    DOES_NOT_APPLY: "a precondition of the claim is contradicted",
}
VERDICTS = tuple(VERDICT_MEANINGS)
OPERATORS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


def is_test(threshold: str) -> bool:
    """Return whether the threshold is on a p-value, as in "p < 0.05"."""
    return threshold.startswith("p ")


def decide_verdict(estimate: Estimate, threshold: str) -> str:
    """Decide whether an estimate supports a claim.

    A test is `TOO_FEW` if it has no p-value, or if neither its p-value nor the smallest attainable one (both two-sided)
    is below the threshold. Any other estimate is `TOO_FEW` without a value or, unless it is exact, without an interval.
    `VERDICT_MEANINGS` defines the other verdicts.

    Args:
        estimate: Estimate of the claim's statistic.
        threshold: Threshold of the claim, such as "> 20 %" or "p < 0.05".

    Returns:
        `SUPPORTED`, `CONTRADICTED`, `NOT_CLEAR` or `TOO_FEW`.
    """
    holds, level = _bound(threshold)
    if is_test(threshold):
        if pd.isna(p := compute_p_value(estimate, threshold)) or (
            p >= level and _two_sided(estimate, estimate.min_attainable_p) >= level
        ):
            return TOO_FEW
        if p >= level or estimate.value == estimate.opposite:
            return NOT_CLEAR
        return SUPPORTED if estimate.opposite is None or estimate.value < estimate.opposite else CONTRADICTED
    values = [estimate.value] if estimate.exact else [estimate.value, estimate.low, estimate.high]
    if pd.isna(values).any():
        return TOO_FEW
    outcomes = [holds(value, level) for value in values]
    return SUPPORTED if all(outcomes) else NOT_CLEAR if any(outcomes) else CONTRADICTED


def compute_p_value(estimate: Estimate, threshold: str) -> float | None:
    """Compute the two-sided p-value of an estimate.

    For a test with two tails it is twice the smaller p-value. For an interval it is that of Student's t with n - 1
    degrees of freedom, scaled to have the end of the 95 % interval on the threshold's side. It is below 0.05 exactly if
    the interval is on one side of the threshold.

    Args:
        estimate: Estimate of the claim's statistic.
        threshold: Threshold of the claim, such as "> 20 %" or "p < 0.05".

    Returns:
        p-value; None for a count, for a value without an interval and for a test without a p-value.
    """
    if is_test(threshold):
        p = estimate.value if estimate.opposite is None else min(estimate.value, estimate.opposite)
        return None if pd.isna(p) else _two_sided(estimate, p)
    if estimate.exact or pd.isna([estimate.value, estimate.low, estimate.high]).any():
        return None
    _, level = _bound(threshold)
    half_width = estimate.value - estimate.low if estimate.value > level else estimate.high - estimate.value
    distance, degrees = abs(estimate.value - level), np.inf if pd.isna(estimate.n) else max(estimate.n - 1, 1)
    if not half_width > 0:
        return 0.0 if distance else 1.0
    return float(2 * scipy.stats.t.sf(scipy.stats.t.ppf(0.975, degrees) * distance / half_width, degrees))


def adjust_holm(p: Sequence[float | None]) -> list[float | None]:
    """Adjust p-values for multiple testing (Holm 1979).

    Args:
        p: p-values. None is not counted as a test.

    Returns:
        Adjusted p-values; None stays None.
    """
    ordered = sorted((value, k) for k, value in enumerate(p) if value is not None)
    adjusted, largest = [None] * len(p), 0.0
    for rank, (value, k) in enumerate(ordered):
        largest = max(largest, min(1.0, (len(ordered) - rank) * value))
        adjusted[k] = largest
    return adjusted


def combine_seeds(estimates: Sequence[Estimate], threshold: str, unit: str) -> Estimate:
    """Combine the estimates of at least two seeds.

    Values: the estimate is the mean over seeds with its t interval. Its half width is at least that of a mean of
    independent values with the seeds' intervals. Errors that seeds share do not average out and are added in
    quadrature: those over evaluation pairs, and those over pruning seeds, whose random draws are the same in every
    fine-tuning run. If the values of all seeds are equal, it spans the seeds' intervals.

    Tests: the p-value of each tail is twice the mean over seeds. All seeds start from one pre-trained model, so their
    tests are not independent, and twice the mean is valid under any dependence (Rüschendorf 1982; Vovk and Wang 2020).
    If seeds point in opposite directions, neither tail is significant.

    Args:
        estimates: Estimate of each seed.
        threshold: Threshold of the claim, such as "> 20 %" or "p < 0.05".
        unit: Kind of the seeds, such as "fine-tuning seeds".
    """
    if is_test(threshold):
        opposites = [estimate.opposite for estimate in estimates]
        opposite = None if None in opposites else _combine_p(opposites)
        attainable = _combine_p([estimate.min_attainable_p for estimate in estimates])
        value = _combine_p([estimate.value for estimate in estimates])
        return Estimate.test(value, opposite, len(estimates), f"{unit}, twice their mean p", "", attainable)
    values = np.array([estimate.value for estimate in estimates], dtype=float)
    ends = np.array([[estimate.low, estimate.high] for estimate in estimates], dtype=float)
    exact = np.array([estimate.exact for estimate in estimates])
    ends, sd = np.where(exact[:, None], values[:, None], ends), values.std(ddof=1)
    if sd < MIN_SD:  # equal counts or values at a limit: a t interval would have no width
        low, high = ends[:, 0].min(), ends[:, 1].max()
    else:  # seeds can agree by chance, so the seeds' intervals give a minimum width
        widths = np.abs(ends - values[:, None])
        is_shared = np.array([estimate.unit == PRUNING_SEEDS for estimate in estimates])[:, None]
        shared = np.where(is_shared, widths, [estimate.shared_half_widths for estimate in estimates])
        apart = np.maximum(widths**2 - shared**2, 0)  # squared half widths of errors that average out
        half = np.fmax(t_half_width(sd, len(estimates)), np.sqrt(apart.sum(axis=0)) / len(estimates))
        low, high = values.mean() + np.array([-1, 1]) * np.hypot(half, shared.mean(axis=0))
    possible = {
        "minimum": min(estimate.minimum for estimate in estimates),
        "maximum": max(estimate.maximum for estimate in estimates),
    }
    equal = bool(exact.all()) and sd < MIN_SD
    return Estimate(values.mean(), low, high, len(estimates), unit, exact=equal, **possible)


def _bound(threshold: str) -> tuple:
    """Return the operator and the number of a threshold."""
    sign, level, *_ = threshold.removeprefix("p ").split()
    return OPERATORS[sign], float(level)


def _two_sided(estimate: Estimate, p: float) -> float:
    """Convert the p-value of one tail to a two-sided p-value; that of a two-sided test is unchanged."""
    return float(p if estimate.opposite is None else min(1.0, 2 * p))


def _combine_p(p: Sequence[float]) -> float:
    return float(min(1.0, 2 * np.mean(p)))
