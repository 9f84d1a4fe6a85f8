"""Statistics of claims about what heads end as, and about what of training and data decides it."""

import numpy as np
import pandas as pd
from scipy import stats

from heuristic_core.analysis.estimates import CannotSay, Estimate, statistic
from heuristic_core.experiments.list_sorting.evidence import ANY, DATA, DECAY, MODEL, NATS, Evidence
from heuristic_core.experiments.list_sorting.intervals import LOWEST, SEEDS, extreme, over_seeds


@statistic
def at_end(evidence: Evidence, measure: str, which: str, decay: str = ANY) -> Estimate:
    """A measure at the last step, in the condition that has least or most of it, percent or nats.

    measure: as :meth:`Evidence.models`. which: lowest or highest. decay: of conditions with, without, or any.
    """
    found = evidence.models(measure, decay)
    return extreme(found.to_dict("list"), which, _by_condition(measure, found), percent=measure not in NATS)


@statistic
def nearest_mode(evidence: Evidence, splitting: float, suppression: float) -> Estimate:
    """How far a model gets towards the nearer of two modes, in the condition that gets least far; 1 is there.

    splitting, suppression: percent that the mode begins at. A model's value is the larger of the two shares.
    """
    shares = evidence.models("splitting") / splitting, evidence.models("suppression") / suppression
    found = pd.concat({name: np.maximum(*(one[name] for one in shares)) for name in [*shares[0]]}, axis=1)
    return extreme(found.to_dict("list"), LOWEST, _by_condition("nearer mode", found))


@statistic
def without_less_with_decay(evidence: Evidence, measure: str) -> Estimate:
    """A measure without weight decay less the same with it, points or nats: conditions that differ in nothing else."""
    rows, values = evidence.conditions(), evidence.models(measure)
    pairs = rows[rows["weight_decay"] == 0].merge(rows[rows["weight_decay"] > 0], on=[*DATA, *MODEL])
    pairs = [(a, b) for a, b in zip(pairs["condition_x"], pairs["condition_y"], strict=True) if {a, b} <= {*values}]
    if not pairs:
        raise CannotSay(f"no two conditions differ in weight decay alone and have a {measure}")
    differences = pd.concat([values[a] - values[b] for a, b in pairs], axis=1)
    named = "; ".join(f"{a} less {b}" for a, b in pairs)
    return over_seeds(differences.mean(axis=1), named)


@statistic
def gap_trend(evidence: Evidence, measure: str, least: int = 3) -> Estimate:
    """p that a measure at the last step has no trend over the mean gap of lists: two-sided, t over seeds.

    A seed's trend is the slope over the binary logarithm of the mean gap, of the conditions that differ in data alone;
    of the largest such group. least: different mean gaps that a trend needs.
    """
    values = evidence.models(measure)
    rows = evidence.conditions()
    rows = rows[rows["condition"].isin(values.columns)]
    groups = [group for _, group in rows.groupby([*MODEL, *DECAY], sort=False)]
    group = max(groups, key=lambda group: group["mean_gap"].nunique())
    if (gaps := group["mean_gap"].nunique()) < least:
        raise CannotSay(f"{gaps} mean gaps among conditions that differ in data alone, and a trend needs {least}")
    doublings = np.log2(group["mean_gap"].to_numpy(dtype=float))
    of_seeds = values[group["condition"]].dropna().to_numpy()
    if len(of_seeds) < 2 or not np.ptp(slopes := of_seeds @ _slope(doublings)):
        raise CannotSay("two seeds with different trends are needed")
    p = float(stats.ttest_1samp(slopes, 0).pvalue)
    detail = f"{slopes.mean():+.1f} points per doubling of the mean gap over {len(group)} conditions, p = {p:.2g}"
    return Estimate.test(p, None, len(slopes), SEEDS, detail)


def _by_condition(what: str, found: pd.DataFrame) -> str:
    """Such as "token accuracy: l2 99.8, no-decay 99.9". found: [seeds, conditions]."""
    return f"{what.replace('_', ' ')}: {', '.join(f'{name} {mean:.3g}' for name, mean in found.mean().items())}"


def _slope(x: np.ndarray) -> np.ndarray:
    """What values are weighted with to give their least-squares slope over `x`."""
    centred = x - x.mean()
    return centred / (centred**2).sum()
