"""Statistics of claims about the modes in which heads end, and how training and data affect them."""

import numpy as np
import pandas as pd
from scipy import stats

from heuristic_core.experiments.list_sorting.evidence import (
    ACCURACY,
    ANY_DECAY,
    NATS,
    WITH_DECAY,
    WITHOUT_DECAY,
    Evidence,
    sorting_statistic,
)
from heuristic_core.stats.estimates import DoesNotApply, Estimate, NotComputable, TooFewUnits, statistic
from heuristic_core.stats.seeds import MIN_SD
from heuristic_core.stats.training_seeds import (
    HIGHEST,
    LOWEST,
    PERCENT,
    TRAINING_SEEDS,
    extreme_mean,
    extreme_model,
)


@statistic
def lowest_accuracy(evidence: Evidence) -> Estimate:
    """Return the lowest token accuracy of any model at the last step, percent."""
    rows = evidence.accuracies
    values = 100 * rows.pivot(index="seed", columns="condition", values=ACCURACY).astype(float)
    values = values[rows["condition"].unique()]
    return extreme_model(values.to_dict("list"), LOWEST, _format_means("token accuracy", values))


@sorting_statistic
def at_end(evidence: Evidence, measure: str, which: str, decay: str = ANY_DECAY) -> Estimate:
    """Return a measure at the last step, percent or nats, in the lowest or highest condition.

    Args:
        evidence: Tables of the study.
        measure: Measure; see :meth:`Evidence.models`.
        which: lowest or highest.
        decay: Use conditions with weight decay, without, or any.
    """
    return _at_end(evidence, measure, which, decay)


def _at_end(evidence: Evidence, measure: str, which: str, decay: str = ANY_DECAY) -> Estimate:
    """Return the estimate of :func:`at_end`."""
    values = evidence.measure_by_seed(measure, decay)
    limits = (0.0, np.inf) if measure in NATS else PERCENT
    return extreme_mean(values.to_dict("list"), which, _format_means(measure, values), limits)


@sorting_statistic
def overlap_at_end(evidence: Evidence) -> Estimate:
    """Return the soft overlap at the last step, percent, in the condition with the highest overlap.

    Raises:
        DoesNotApply: A head does nothing; it has no range of numbers, and soft overlap with it is low.
    """
    if idle := evidence.idle_heads:
        more = f" (and {len(idle) - 1} more)" if len(idle) > 1 else ""
        raise DoesNotApply(f"{idle[0]}{more} does nothing: with means in its place neither loss nor entropy changes")
    return _at_end(evidence, "soft_overlap", HIGHEST)


@sorting_statistic
def nearest_mode(evidence: Evidence, splitting: float, suppression: float) -> Estimate:
    """Return how close a model gets to the nearer of two modes, in the lowest condition; 1 reaches it.

    A model's value is the larger of its two scores, each over the mode's limit.

    Args:
        evidence: Tables of the study.
        splitting: Percent at which the mode begins.
        suppression: Percent at which the mode begins.
    """
    shares = evidence.measure_by_seed("splitting") / splitting, evidence.measure_by_seed("suppression") / suppression
    nearer = pd.concat({name: np.maximum(*(share[name] for share in shares)) for name in [*shares[0]]}, axis=1)
    return extreme_mean(nearer.to_dict("list"), LOWEST, _format_means("nearer mode", nearer))


@sorting_statistic
def without_less_with_decay(evidence: Evidence, measure: str) -> Estimate:
    """Return a measure without weight decay minus the same with it: the lowest of pairs of conditions.

    The unit is points or nats. Conditions of a pair differ only in optimiser and weight decay. Differences are seed by
    seed.

    Args:
        evidence: Tables of the study.
        measure: Measure; see :meth:`Evidence.models`.

    Raises:
        NotComputable: If no two conditions differ in weight decay alone.
    """
    values = evidence.measure_by_seed(measure)
    without, decayed = (
        [name for name in evidence.conditions(decay)["condition"] if name in values]
        for decay in (WITHOUT_DECAY, WITH_DECAY)
    )
    if not (pairs := evidence.pair_conditions("but_decay", without, decayed)):
        raise NotComputable(f"no two conditions differ in weight decay alone and have a {measure}")
    differences = {f"{a} less {b}": values[a] - values[b] for a, b in pairs}
    limits = (-np.inf, np.inf) if measure in NATS else (-100.0, 100.0)
    return extreme_mean(differences, LOWEST, "; ".join(differences), limits)


@sorting_statistic
def gap_trend(evidence: Evidence, measure: str, alike: str, least: int) -> Estimate:
    """Test that a measure at the last step has no trend over the mean gap of lists: two-sided t test over seeds.

    A seed's trend is the slope over the binary logarithm of the nominal mean gap, within groups of conditions.

    Args:
        evidence: Tables of the study.
        measure: Measure; see :meth:`Evidence.models`.
        alike: Column of table "sorting_conditions" that the conditions of a group share: but_data if they differ only
            in data, but_gap if only in the gap.
        least: Number of different gaps that a group needs.

    Raises:
        NotComputable: If no group has so many gaps.
        TooFewUnits: If there are not two seeds with different trends.
    """
    values = evidence.measure_by_seed(measure)
    rows = evidence.conditions()
    rows = rows[rows["condition"].isin(values.columns)]
    gaps = rows.groupby(alike)["nominal_gap"].transform("nunique")
    if (most_gaps := gaps.max()) < least:
        raise NotComputable(f"{most_gaps} mean gaps among conditions that share {alike}, and a trend needs {least}")
    rows = rows[gaps >= least]
    doublings = np.log2(rows["nominal_gap"].astype(float))
    within = (doublings - doublings.groupby(rows[alike]).transform("mean")).to_numpy()
    seed_values = values[rows["condition"]].dropna().to_numpy()
    slopes = seed_values @ within / (within**2).sum()
    if len(slopes) < 2 or slopes.std(ddof=1) < MIN_SD:
        raise TooFewUnits("two seeds with different trends are needed")
    p = float(stats.ttest_1samp(slopes, 0).pvalue)
    detail = (
        f"{slopes.mean():+z.1f} points per doubling of the mean gap, of {', '.join(rows['condition'])}, p = {p:.2g}"
    )
    return Estimate.test(p, None, len(slopes), TRAINING_SEEDS, detail)


def _format_means(label: str, values: pd.DataFrame) -> str:
    """Format means by condition, such as "token accuracy: l2 99.8, no-decay 99.9", of [seeds, conditions]."""
    return f"{label.replace('_', ' ')}: {', '.join(f'{name} {mean:.3g}' for name, mean in values.mean().items())}"
