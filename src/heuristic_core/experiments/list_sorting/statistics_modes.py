"""Statistics of claims about what heads end as, and about what of training and data decides it."""

import numpy as np
import pandas as pd
from scipy import stats

from heuristic_core.analysis.estimates import CannotSay, DoesNotApply, Estimate, statistic
from heuristic_core.analysis.training_seeds import HIGHEST, LOWEST, SEEDS, extreme
from heuristic_core.experiments.list_sorting.evidence import (
    ACCURACY,
    ANY,
    NATS,
    WITH,
    WITHOUT,
    Evidence,
    statistic_of_sorting,
)


@statistic
def accuracy(evidence: Evidence, which: str) -> Estimate:
    """Token accuracy at the last step, percent, in the condition that has least or most of it, sorting or not.

    which: lowest or highest.
    """
    rows = evidence.accuracies
    found = 100 * rows.pivot(index="seed", columns="condition", values=ACCURACY).astype(float)
    found = found[rows["condition"].unique()]
    lists = int(rows["lists"].min())
    return extreme(found.to_dict("list"), which, _by_condition("token accuracy", found), percent=True, units=lists)


@statistic_of_sorting
def at_end(evidence: Evidence, measure: str, which: str, decay: str = ANY) -> Estimate:
    """A measure at the last step, in the condition that has least or most of it, percent or nats.

    measure: as :meth:`Evidence.models`. which: lowest or highest. decay: of conditions with, without, or any.
    """
    return _at_end(evidence, measure, which, decay)


def _at_end(evidence: Evidence, measure: str, which: str, decay: str = ANY) -> Estimate:
    found = evidence.models(measure, decay)
    return extreme(found.to_dict("list"), which, _by_condition(measure, found), percent=measure not in NATS)


@statistic_of_sorting
def overlap_at_end(evidence: Evidence) -> Estimate:
    """Soft overlap at the last step, percent, in the condition that has most of it.

    Raises DoesNotApply where a head does nothing: it has no range of numbers, and soft overlap with it is low.
    """
    if idle := evidence.idle:
        more = f" (and {len(idle) - 1} more)" if len(idle) > 1 else ""
        raise DoesNotApply(f"{idle[0]}{more} does nothing: with means in its place neither loss nor entropy changes")
    return _at_end(evidence, "soft_overlap", HIGHEST)


@statistic_of_sorting
def nearest_mode(evidence: Evidence, splitting: float, suppression: float) -> Estimate:
    """How far a model gets towards the nearer of two modes, in the condition that gets least far; 1 is there.

    splitting, suppression: percent that the mode begins at. A model's value is the larger of the two shares.
    """
    shares = evidence.models("splitting") / splitting, evidence.models("suppression") / suppression
    found = pd.concat({name: np.maximum(*(one[name] for one in shares)) for name in [*shares[0]]}, axis=1)
    return extreme(found.to_dict("list"), LOWEST, _by_condition("nearer mode", found))


@statistic_of_sorting
def without_less_with_decay(evidence: Evidence, measure: str) -> Estimate:
    """A measure without weight decay less the same with it, points or nats: the lowest of pairs of conditions.

    Conditions of a pair differ in optimiser and weight decay alone. Differences are seed by seed.
    """
    values = evidence.models(measure)
    without, decayed = (
        [name for name in evidence.conditions(decay)["condition"] if name in values] for decay in (WITHOUT, WITH)
    )
    if not (pairs := evidence.pairs("but_decay", without, decayed)):
        raise CannotSay(f"no two conditions differ in weight decay alone and have a {measure}")
    differences = {f"{a} less {b}": values[a] - values[b] for a, b in pairs}
    return extreme(differences, LOWEST, "; ".join(differences))


@statistic_of_sorting
def gap_trend(evidence: Evidence, measure: str, alike: str, least: int) -> Estimate:
    """p that a measure at the last step has no trend over the mean gap of lists: two-sided, t over seeds.

    A seed's trend is the slope over the binary logarithm of the nominal mean gap, within groups of conditions.
    alike: column of table "sorting_conditions" that the conditions of a group share: but_data where they differ in
    data alone, but_gap where in the gap alone. least: different gaps that a group needs.
    """
    values = evidence.models(measure)
    rows = evidence.conditions()
    rows = rows[rows["condition"].isin(values.columns)]
    gaps = rows.groupby(alike)["nominal_gap"].transform("nunique")
    if (most := gaps.max()) < least:
        raise CannotSay(f"{most} mean gaps among conditions that share {alike}, and a trend needs {least}")
    rows = rows[gaps >= least]
    doublings = np.log2(rows["nominal_gap"].astype(float))
    within = (doublings - doublings.groupby(rows[alike]).transform("mean")).to_numpy()
    of_seeds = values[rows["condition"]].dropna().to_numpy()
    slopes = of_seeds @ within / (within**2).sum()
    if len(slopes) < 2 or not np.ptp(slopes):
        raise CannotSay("two seeds with different trends are needed")
    p = float(stats.ttest_1samp(slopes, 0).pvalue)
    detail = f"{slopes.mean():+.1f} points per doubling of the mean gap, of {', '.join(rows['condition'])}, p = {p:.2g}"
    return Estimate.test(p, None, len(slopes), SEEDS, detail)


def _by_condition(what: str, found: pd.DataFrame) -> str:
    """Such as "token accuracy: l2 99.8, no-decay 99.9". found: [seeds, conditions]."""
    return f"{what.replace('_', ' ')}: {', '.join(f'{name} {mean:.3g}' for name, mean in found.mean().items())}"
