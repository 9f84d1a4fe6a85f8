"""The rule of verdicts: of one seed, of a study over its seeds, and of several claims together."""

import operator
from collections.abc import Sequence

import numpy as np
import pandas as pd
import scipy  # loads scipy.stats where it is used: Snakemake reads this module at every start

from heuristic_core.stats.bounds import MIN_SD, largest_sd
from heuristic_core.stats.estimates import DOES_NOT_APPLY, FAILED_RUNS, NOT_RUN, TOO_FEW, Estimate
from heuristic_core.stats.seeds import t_half_width

SUPPORTED, CONTRADICTED, NOT_CLEAR = "supported", "contradicted", "not clear"
VERDICT_MEANINGS = {
    SUPPORTED: "the 95 % interval keeps the threshold; of a test, p < 0.05 in the stated direction",
    CONTRADICTED: "the interval breaks the threshold; of a test, p < 0.05 in the other direction",
    NOT_CLEAR: "the interval includes the threshold; of a test, p ≥ 0.05",
    TOO_FEW: "too few seeds, random sets, heads or checkpoints for an interval, or for a p below 0.05",
    FAILED_RUNS: "the runs that the claim rests on failed, collapsed or missed their target, or the model is at chance",
    NOT_RUN: "the study leaves out what the claim rests on",
    DOES_NOT_APPLY: "the claim presumes something that is not so here",
}
VERDICTS = tuple(VERDICT_MEANINGS)
OPERATORS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


def is_test(threshold: str) -> bool:
    """Whether the estimate is a p, as in "p < 0.05"."""
    return threshold.startswith("p ")


def decide_verdict(estimate: Estimate, threshold: str) -> str:
    """Whether an estimate supports a claim: one of `VERDICTS`. threshold: such as "> 20 %" or "p < 0.05"."""
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
    """The two-sided p of an estimate; None of a count, and of a value without an interval.

    A test with two tails has twice the smaller one. Of an interval it is the p of Student's t with n - 1 degrees of
    freedom whose 95 % interval has this end: below 0.05 exactly where the interval is on one side of the threshold.
    """
    if is_test(threshold):
        p = estimate.value if estimate.opposite is None else min(estimate.value, estimate.opposite)
        return None if pd.isna(p) else _two_sided(estimate, p)
    if estimate.exact or pd.isna([estimate.value, estimate.low, estimate.high]).any():
        return None
    _, level = _bound(threshold)
    reach = estimate.value - estimate.low if estimate.value > level else estimate.high - estimate.value
    distance, degrees = abs(estimate.value - level), np.inf if pd.isna(estimate.n) else max(estimate.n - 1, 1)
    if not reach > 0:
        return 0.0 if distance else 1.0
    return float(2 * scipy.stats.t.sf(scipy.stats.t.ppf(0.975, degrees) * distance / reach, degrees))


def adjust_holm(p: Sequence[float | None]) -> list[float | None]:
    """Adjust p-values for their number (Holm 1979); None stays None and does not count."""
    ordered = sorted((value, k) for k, value in enumerate(p) if value is not None)
    adjusted, largest = [None] * len(p), 0.0
    for rank, (value, k) in enumerate(ordered):
        largest = max(largest, min(1.0, (len(ordered) - rank) * value))
        adjusted[k] = largest
    return adjusted


def combine_seeds(estimates: Sequence[Estimate], threshold: str, unit: str) -> Estimate:
    """The estimates of at least two seeds as one. unit: what the seeds are, such as "fine-tuning seeds".

    Values give their mean with its t interval. It is no narrower than the seeds' own intervals tell, and errors that
    seeds share, as of evaluation pairs, are added as squares: they do not average out. Of several measures each is
    combined by itself. The seeds start from one pre-trained model, so that their tests are not independent: the p of
    either tail is twice the mean, which holds under any dependence (Rüschendorf 1982; Vovk and Wang 2020). Seeds that
    contradict each other decide nothing.
    """
    if is_test(threshold):
        opposites = [estimate.opposite for estimate in estimates]
        opposite = None if None in opposites else _combine_p(opposites)
        attainable = _combine_p([estimate.min_attainable_p for estimate in estimates])
        value = _combine_p([estimate.value for estimate in estimates])
        return Estimate.test(value, opposite, len(estimates), f"{unit}, twice their mean p", "", attainable)
    if names := list(estimates[0].measures):
        by_name = {name: [estimate.measures[name] for estimate in estimates] for name in names}
        return Estimate.hull({name: combine_seeds(members, threshold, unit) for name, members in by_name.items()})
    bounds = np.array([estimate.bounds or [estimate.value] * 2 for estimate in estimates], dtype=float)
    ends = np.array([[estimate.low, estimate.high] for estimate in estimates], dtype=float)
    exact = np.array([estimate.exact for estimate in estimates])
    ends, sd = np.where(exact[:, None], bounds, ends), largest_sd(*bounds.T)
    if sd < MIN_SD:  # counts, or seeds at one floor: a t interval would have no width
        low, high = ends[:, 0].min(), ends[:, 1].max()
    else:  # two seeds can agree by chance; no mean is known better than the seeds' own intervals tell
        shared = np.array([estimate.shared_half_widths for estimate in estimates])
        apart = np.maximum(((ends - bounds) ** 2) - shared**2, 0)  # squared, of errors that average out
        half = np.fmax(t_half_width(sd, len(estimates)), np.sqrt(apart.sum(axis=0)) / len(estimates))
        low, high = bounds.mean(axis=0) + np.array([-1, 1]) * np.hypot(half, shared.mean(axis=0))
    possible = {
        "minimum": min(estimate.minimum for estimate in estimates),
        "maximum": max(estimate.maximum for estimate in estimates),
    }
    value = np.mean([estimate.value for estimate in estimates])  # NaN if any is only bounded
    return Estimate(value, low, high, len(estimates), unit, exact=bool(exact.all()) and sd < MIN_SD, **possible)


def _bound(threshold: str) -> tuple:
    """The operator of a threshold, and its number."""
    sign, level, *_ = threshold.removeprefix("p ").split()
    return OPERATORS[sign], float(level)


def _two_sided(estimate: Estimate, p: float) -> float:
    """The two-sided p of one tail's."""
    return float(p if estimate.opposite is None else min(1.0, 2 * p))


def _combine_p(p: Sequence[float]) -> float:
    return float(min(1.0, 2 * np.mean(p)))
