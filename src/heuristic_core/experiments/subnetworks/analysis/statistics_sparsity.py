"""Statistics for claims about accuracy against sparsity."""

import math

import numpy as np
import pandas as pd
from scipy import stats
from scipy.stats import rankdata

from heuristic_core.common.draws import numpy_generator
from heuristic_core.experiments.subnetworks.analysis.accuracy import LABELS
from heuristic_core.experiments.subnetworks.analysis.evidence import Evidence, require_rows
from heuristic_core.experiments.subnetworks.analysis.outcomes import with_actual_sparsity, with_collapses
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.stats.bootstrap import bonferroni_interval
from heuristic_core.stats.estimates import DoesNotApply, Estimate, TooFewUnits, statistic
from heuristic_core.stats.randomisation import PERMUTATIONS, TIE_TOLERANCE, tail_p_values
from heuristic_core.stats.seeds import PRUNING_SEEDS

CORRECTION = 3  # of the larger p-value of two tests of a trend; simulated
MIN_UNITS = 60  # bootstrap units of accuracies for simultaneous intervals, whose factor is normal; simulated


@statistic
def sparsity_trend(evidence: Evidence, group: str) -> Estimate:
    """Test whether accuracy on a group falls with sparsity.

    The trend of a pruning seed is Spearman's rho of accuracy and actual sparsity over all subnetworks of the grid.
    Seeds with a missing subnetwork are left out. The p-value is `CORRECTION` times the larger p-value of two tests:

    - Page's test (1963), which permutes sparsities within seeds and allows ties, tests whether the mean trend exceeds
      noise. It treats neighbouring sparsities of a seed as independent although they share random draws: with three
      seeds and 14 sparsities it rejects for 14 to 22 % of autocorrelated curves without a trend.
    - A t test over seeds tests whether their trends agree. It is imprecise with ties among few sparsities.

    By itself the larger p-value rejects for up to 10 % of such curves, doubled for up to 7 % (three seeds whose curves
    are nearly random walks), three times it for 5 %.

    Args:
        evidence: Tables of one fine-tuning run.
        group: Group of subsets, or J.

    Returns:
        p-value; the opposite p-value is for rising accuracy.

    Raises:
        TooFewUnits: If fewer than two seeds have all sparsities, or there are fewer than three sparsities.
    """
    curve = _by_seed(evidence, group).dropna()
    if len(curve) < 2 or curve.shape[1] < 3:
        complete = f"{len(curve)} have all {curve.shape[1]} of the grid"
        raise TooFewUnits(f"a trend of {LABELS[group]} needs two seeds with three sparsities; {complete}")
    attainable = CORRECTION * math.factorial(curve.shape[1]) ** -len(curve)
    p, opposite, trends = compute_trend(curve.to_numpy(), numpy_generator("sparsity trend", group))
    rhos = ", ".join(f"{value:z.2f}" for value in trends)
    first, last = curve.iloc[:, 0].mean(), curve.iloc[:, -1].mean()
    detail = f"rho with sparsity {rhos}; {LABELS[group]} from {first:z.1f} to {last:z.1f}"
    return Estimate.test(p, opposite, len(curve), PRUNING_SEEDS, detail, attainable)


def compute_trend(values: np.ndarray, rng: np.random.Generator) -> tuple[float, float, np.ndarray]:
    """Test for a monotonic trend, by permutations within rows and a t test over rows.

    Args:
        values: Accuracies, [seeds, sparsities], by ascending sparsity.
        rng: Generator of the permutations.

    Returns:
        p-value of a falling trend, p-value of a rising trend, and the trend of each row, -1 to 1. A constant row has
        trend 0. If all rows are constant, both p-values are 1.
    """
    ranks = rankdata(values, axis=1)
    ranks -= ranks.mean(axis=1, keepdims=True)
    order = np.arange(values.shape[1]) - (values.shape[1] - 1) / 2
    norms = np.sqrt((ranks**2).sum(axis=1) * (order**2).sum())
    trends = ranks @ order / np.where(norms > 0, norms, 1)
    permuted = rng.permuted(np.broadcast_to(ranks, (PERMUTATIONS, *ranks.shape)), axis=2)
    null = (permuted @ order / np.where(norms > 0, norms, 1)).mean(axis=1)
    rising, falling = tail_p_values(null, trends.mean())
    if (spread := trends.std(ddof=1) / np.sqrt(len(trends))) > TIE_TOLERANCE:
        agreeing = stats.t.sf(trends.mean() / spread * np.array([1, -1]), len(trends) - 1)
        rising, falling = (max(pair) for pair in zip((rising, falling), agreeing.tolist(), strict=True))
    return min(1.0, CORRECTION * falling), min(1.0, CORRECTION * rising), trends


@statistic
def as_good_beyond(evidence: Evidence, group: str, sparsity: float) -> Estimate:
    """Count the subnetworks sparser than `sparsity` that are as accurate as the full model, within the margin.

    The subnetworks are those of the last checkpoint. Collapsed subnetworks are not counted, because rejecting every
    pair can be correct.

    Args:
        evidence: Tables of one fine-tuning run.
        group: Group of subsets, or J.
        sparsity: Share of components that target and actual sparsity must exceed; rounding to whole components can
            put either above the other.

    Returns:
        Count. The ends of the interval count the subnetworks that are certainly and possibly as accurate, by
        simultaneous bootstrap intervals of their changes (Bonferroni). A study without predictions has no interval.

    Raises:
        DoesNotApply: If the study has no margin, or the full model's accuracy does not exceed the margin.
        TooFewUnits: If accuracies have fewer than `MIN_UNITS` bootstrap units.
    """
    evidence.require_sound("curve")
    context, full = evidence.context, evidence.full(group)["accuracy"]
    if context.margin is None or full <= context.margin:
        raise DoesNotApply(
            f"the full model's {full:.1f} % on {group} are not above the margin: any subnetwork is as good"
        )
    rows, runs = evidence.table("group_accuracy"), evidence.tables.get("runs")
    selected = (rows["step"] == context.last) & (rows["group"] == group) & rows["seed"].notna()
    rows = with_actual_sparsity(with_collapses(rows[selected].dropna(subset="accuracy"), runs), runs)
    rows = rows[~rows["collapsed"] & (rows[["sparsity", "actual_sparsity"]] > sparsity).all(axis="columns")]
    rows = require_rows(
        rows.drop_duplicates(["sparsity", "seed"]), f"{group} accuracy beyond {100 * sparsity:g} % sparsity"
    )
    if (units := rows["units"].astype(float).min()) < MIN_UNITS:
        raise TooFewUnits(f"{units:g} templates or pairs, and simultaneous intervals need {MIN_UNITS}")
    change = rows["accuracy"] - full
    best = rows.loc[change.idxmax()]
    detail = f"the best: {change.max():+z.1f} points against the full model, at {100 * best['sparsity']:g} % sparsity"
    low, high = bonferroni_interval(change, rows["change_low"], rows["change_high"])
    counts = [int((values > -context.margin).sum()) for values in (change, low, high)]
    if rows[["change_low", "change_high"]].isna().any(axis=None):
        return Estimate(counts[0], None, None, len(rows), "subnetworks", detail, exact=True)
    if len(set(counts)) == 1:  # no subnetwork is uncertain
        return Estimate(*counts, len(rows), "subnetworks", detail, exact=True)
    return Estimate.over_pairs(*counts, len(rows), "subnetworks", detail)


def _by_seed(evidence: Evidence, group: str) -> pd.DataFrame:
    """Return a group's accuracy along the curve, percent, [pruning seeds, subnetworks], by actual sparsity."""
    evidence.require_sound("curve")
    curve = _curve(evidence.table("group_accuracy"), evidence.context)
    curve = require_rows(curve[curve["group"] == group], f"{LABELS[group]} of the subnetworks of a curve")
    curve = with_actual_sparsity(curve, evidence.tables.get("runs"))
    accuracy, sparsity = (
        curve.pivot(index="seed", columns="sparsity", values=column) for column in ("accuracy", "actual_sparsity")
    )
    order = np.argsort(sparsity.to_numpy(), axis=1, kind="stable")
    return pd.DataFrame(np.take_along_axis(accuracy.to_numpy(), order, axis=1), accuracy.index)


def _curve(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    """Select the known accuracies of the last checkpoint's subnetworks of the curve's seeds."""
    selected = (rows["step"] == context.last) & (rows["repeat"] == context.curve_repeat)
    return rows[selected & rows["seed"].isin(list(context.curve_seeds))].dropna(subset="accuracy")
