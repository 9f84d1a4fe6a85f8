"""Statistics of claims about accuracy against sparsity: does accuracy decline, and where."""

import math

import numpy as np
import pandas as pd
from scipy import stats
from scipy.stats import rankdata

from heuristic_core.analysis.bootstrap import simultaneous
from heuristic_core.analysis.estimates import DoesNotApply, Estimate, TooFew, statistic
from heuristic_core.analysis.randomisation import PERMUTATIONS, TIE, tails
from heuristic_core.analysis.seeds import PRUNING_SEEDS
from heuristic_core.common.draws import numpy_generator
from heuristic_core.experiments.heuristic_core.analysis.evidence import Evidence, some
from heuristic_core.experiments.heuristic_core.analysis.outcomes import with_collapses
from heuristic_core.experiments.heuristic_core.config.context import Context


@statistic
def sparsity_trend(evidence: Evidence, group: str) -> Estimate:
    """p that a group's accuracy falls this consistently with sparsity by chance; opposite: that it rises.

    The trend of a pruning seed is Spearman's rho of its accuracy with sparsity, over all sparsities of the grid; a seed
    that lacks a sparsity is left out. Page's test (1963) permutes sparsities within seeds, ties included. It asks
    whether the mean trend is more than noise, but takes neighbouring sparsities of a seed, which share random draws, as
    independent (then three seeds over 14 sparsities reject in 14 to 22 % of curves that wander). A t test asks whether
    the trends of different seeds agree, and knows too little of ties among few sparsities. p is the larger of both.
    """
    curve = _by_seed(evidence, group).dropna()
    if len(curve) < 2 or curve.shape[1] < 3:
        of_grid = f"{len(curve)} have all {curve.shape[1]} of the grid"
        there = of_grid if curve.shape[1] else f"there is no {group} subset"
        raise TooFew(f"a trend of {group} accuracy needs two seeds with three sparsities; {there}")
    attainable = math.factorial(curve.shape[1]) ** -len(curve)
    p, opposite, trends = trend(curve.to_numpy(), numpy_generator("sparsity trend", group))
    each = ", ".join(f"{value:.2f}" for value in trends)
    detail = (
        f"rho with sparsity {each}; accuracy from {curve.iloc[:, 0].mean():.1f} to {curve.iloc[:, -1].mean():.1f} %"
    )
    return Estimate.test(p, opposite, len(curve), PRUNING_SEEDS, f"{detail}, p = {p:.2g}", attainable)


def trend(values: np.ndarray, rng: np.random.Generator) -> tuple[float, float, np.ndarray]:
    """p of a falling trend, p of a rising trend, and the trend of every row, -1 to 1. values: [seeds, sparsities].

    The trend of a row without any change is 0. Where all rows are such, both p are 1.
    """
    ranks = rankdata(values, axis=1)
    ranks -= ranks.mean(axis=1, keepdims=True)
    order = np.arange(values.shape[1]) - (values.shape[1] - 1) / 2
    norms = np.sqrt((ranks**2).sum(axis=1) * (order**2).sum())
    trends = ranks @ order / np.where(norms > 0, norms, 1)
    permuted = rng.permuted(np.broadcast_to(ranks, (PERMUTATIONS, *ranks.shape)), axis=2)
    drawn = (permuted @ order / np.where(norms > 0, norms, 1)).mean(axis=1)
    rising, falling = tails(drawn, trends.mean())
    if (spread := trends.std(ddof=1) / np.sqrt(len(trends))) > TIE:
        agreeing = stats.t.sf(trends.mean() / spread * np.array([1, -1]), len(trends) - 1)
        rising, falling = (max(pair) for pair in zip((rising, falling), agreeing.tolist(), strict=True))
    return falling, rising, trends


@statistic
def as_good_beyond(evidence: Evidence, group: str, sparsity: float) -> Estimate:
    """The number of subnetworks sparser than `sparsity` above the full model's accuracy on a group minus the margin.

    The subnetworks are of the last checkpoint. Collapsed subnetworks do not count: they may be right by rejecting
    everything. The ends count the subnetworks that are certainly and that are possibly above, by bootstrap
    intervals of their changes that hold for all (Bonferroni); a study without predictions has the count alone.
    """
    evidence.sound("curve")
    group = evidence.measured(group)
    context, full = evidence.context, evidence.full(group)["accuracy"]
    if context.margin is None or full <= context.margin:
        raise DoesNotApply(
            f"the full model's {full:.1f} % on {group} are not above the margin: any subnetwork is as good"
        )
    rows = evidence.table("group_accuracy")
    here = (rows["step"] == context.last) & (rows["group"] == group) & (rows["sparsity"] > sparsity)
    rows = with_collapses(rows[here & rows["seed"].notna()].dropna(subset="accuracy"), evidence.tables.get("runs"))
    rows = rows[~rows["collapsed"]]
    rows = some(rows.drop_duplicates(["sparsity", "seed"]), f"{group} accuracy beyond {100 * sparsity:g} % sparsity")
    change = rows["accuracy"] - full
    best = rows.loc[change.idxmax()]
    detail = f"the best: {change.max():+.1f} points against the full model, at {100 * best['sparsity']:g} % sparsity"
    low, high = simultaneous(change, rows["change_low"], rows["change_high"])
    counts = [int((values > -context.margin).sum()) for values in (change, low, high)]
    if rows[["change_low", "change_high"]].isna().any(axis=None):
        return Estimate(counts[0], None, None, len(rows), "subnetworks", detail, exact=True)
    same = len(set(counts)) == 1  # certain of all subnetworks
    return Estimate(*counts, len(rows), "subnetworks", detail, exact=same)


def _by_seed(evidence: Evidence, group: str) -> pd.DataFrame:
    """A group's accuracy along the curve, percent: [pruning seeds, sparsities], ascending."""
    evidence.sound("curve")
    curve = _curve(evidence.table("group_accuracy"), evidence.context)
    group = evidence.measured(group, curve)
    return curve[curve["group"] == group].pivot(index="seed", columns="sparsity", values="accuracy")


def _curve(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    """The rows of the accuracy curves: known accuracies of the last checkpoint's subnetworks of the curve's seeds."""
    here = (rows["step"] == context.last) & (rows["repeat"] == context.curve_repeat)
    return rows[here & rows["seed"].isin(list(context.curve_seeds))].dropna(subset="accuracy")
