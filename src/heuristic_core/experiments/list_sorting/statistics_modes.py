"""Statistics of claims about the modes in which heads end, and how training and data affect them."""

import numpy as np
import pandas as pd
from scipy import stats

from heuristic_core.experiments.list_sorting.evidence import (
    ACCURACY,
    ANY_DECAY,
    WITH_DECAY,
    WITHOUT_DECAY,
    Evidence,
    sorting_statistic,
)
from heuristic_core.experiments.list_sorting.tables import SHARES
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

MIN_SINGULAR_VALUE = 0.01  # of the design; below it factors change together and cannot be told apart
DATA_FACTORS = {"mean gap": "nominal_gap", "numbers": "numbers", "length": "length"}  # columns of "sorting_conditions"


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
    limits = PERCENT if measure in SHARES else (0.0, np.inf)
    return extreme_mean(values.to_dict("list"), which, _format_means(measure, values), limits)


@sorting_statistic
def overlap_at_end(evidence: Evidence) -> Estimate:
    """Return the overlap at the last step, percent, in the condition with the highest overlap.

    Raises:
        DoesNotApply: A head does nothing; it has no range of numbers, and overlap with it is low.
    """
    if idle := evidence.idle_heads:
        more = f" (and {len(idle) - 1} more)" if len(idle) > 1 else ""
        raise DoesNotApply(f"{idle[0]}{more} does nothing: with means in its place neither loss nor entropy changes")
    return _at_end(evidence, "overlap", HIGHEST)


@sorting_statistic
def nearest_mode(evidence: Evidence, splitting: float, suppression: float) -> Estimate:
    """Return how close a model gets to the nearer of two modes, in the lowest condition; 1 reaches it.

    A model's value is the larger of its two measures, each over the value at which the mode begins.

    Args:
        evidence: Tables of the study.
        splitting: Percent at which the mode begins.
        suppression: Percent at which the mode begins.
    """
    shares = evidence.measure_by_seed("splitting") / splitting, evidence.measure_by_seed("suppression") / suppression
    names = [name for name in shares[0] if name in shares[1]]
    nearer = pd.concat({name: np.maximum(*(share[name] for share in shares)) for name in names}, axis=1)
    return extreme_mean(nearer.to_dict("list"), LOWEST, _format_means("nearer mode", nearer), (0.0, np.inf))


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
        raise NotComputable(f"no two conditions differ in weight decay alone and have the measure {measure}")
    differences = {f"{a} less {b}": values[a] - values[b] for a, b in pairs}
    limits = (-100.0, 100.0) if measure in SHARES else (-np.inf, np.inf)
    return extreme_mean(differences, LOWEST, "; ".join(differences), limits)


@sorting_statistic
def gap_slope(evidence: Evidence, measure: str) -> Estimate:
    """Test that a measure at the last step does not depend on the mean gap of lists: two-sided t test over seeds.

    Each seed has a least-squares fit on the binary logarithms of mean gap, numbers and length, as far as they differ,
    over the largest group of conditions that differ in data alone: the slope over the gap is with numbers and length
    held constant.

    Args:
        evidence: Tables of the study.
        measure: Measure; see :meth:`Evidence.models`.

    Raises:
        NotComputable: If these conditions do not differ in the gap, or the gap cannot be told from numbers and length.
        TooFewUnits: If there are not two seeds with all conditions and different slopes.
    """
    values = evidence.measure_by_seed(measure)
    rows = evidence.conditions()
    rows = rows[rows["condition"].isin(values.columns)]
    rows = rows[rows["but_data"] == rows["but_data"].value_counts(sort=False).idxmax()]
    factors = [name for name, column in DATA_FACTORS.items() if rows[column].nunique() > 1]
    if "mean gap" not in factors:
        raise NotComputable("no conditions that differ in data alone differ in the mean gap")
    doublings = np.log2(rows[[DATA_FACTORS[name] for name in factors]].to_numpy(dtype=float))
    design = np.column_stack([doublings, np.ones(len(doublings))])
    if np.linalg.matrix_rank(design, tol=MIN_SINGULAR_VALUE) <= len(factors):
        raise NotComputable(
            f"{', '.join(factors)} cannot be told apart over {len(rows)} conditions; add one that changes the gap alone"
        )
    seed_values = values[rows["condition"]].dropna().to_numpy()
    slopes = dict(zip(factors, np.linalg.pinv(design) @ seed_values.T, strict=False))
    gap = slopes["mean gap"]
    if len(gap) < 2:
        raise TooFewUnits("fewer than two seeds have all conditions")
    if gap.std(ddof=1) < MIN_SD:
        raise TooFewUnits("all seeds have the same slope")
    p = float(stats.ttest_1samp(gap, 0).pvalue)
    ends = {name: stats.ttest_1samp(slope, 0).confidence_interval() for name, slope in slopes.items()}
    texts = ", ".join(
        f"{slope.mean():+z.1f} [{ends[name].low:z.1f}, {ends[name].high:z.1f}] by {name}"
        for name, slope in slopes.items()
    )
    detail = f"points per doubling: {texts}, of {', '.join(rows['condition'])}, p = {p:.2g}"
    return Estimate.test(p, None, len(gap), TRAINING_SEEDS, detail)


def _format_means(label: str, values: pd.DataFrame) -> str:
    """Format means by condition, such as "token accuracy: l2 99.8, no-decay 99.9", of [seeds, conditions]."""
    return f"{label.replace('_', ' ')}: {', '.join(f'{name} {mean:.3g}' for name, mean in values.mean().items())}"
