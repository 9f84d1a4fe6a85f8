"""Statistics of claims about subcases: do subnetworks generalise to different ones."""

from itertools import combinations

import numpy as np
from scipy import stats

from heuristic_core.analysis.estimates import CannotSay, DoesNotApply, Estimate, TooFew, statistic
from heuristic_core.analysis.seeds import PRUNING_SEEDS
from heuristic_core.experiments.heuristic_core.analysis.evidence import Evidence

READ = ("accuracy", "low", "high", "units")


@statistic
def crossings(evidence: Evidence, group: str, sparsity: str) -> Estimate:
    """p that no subnetwork is better than another one on one subset of a group and worse on another subset.

    Subnetworks of which some are better at everything differ on every subset, and do not cross. The test is over
    evaluation pairs (templates), by the intervals of accuracies. That two subnetworks share pairs is not made use of,
    which makes differences look less certain than they are. It has no other tail: that no two subnetworks cross
    cannot be shown.
    """
    rows = evidence.spread("accuracy", group, sparsity)
    table = rows.pivot(index="seed", columns="subset", values=[*READ])
    numbers = (table[name].astype("Float64").to_numpy(float, na_value=np.nan) for name in READ)
    values, low, high, units = numbers
    if len(values) < 2:
        raise TooFew(f"only {len(values)} subnetworks")
    if values.shape[1] < 2:
        raise DoesNotApply(f"the {group} group has {values.shape[1]} subset")
    if np.isnan(values).any():
        seed, subset = (int(places[0]) for places in np.nonzero(np.isnan(values)))
        named = f"pruning seed {table.index[seed]} on subset {table['accuracy'].columns[subset]}"
        raise CannotSay(f"no accuracy of the subnetwork of {named}")
    if np.isnan([low, high]).any():
        raise CannotSay("accuracies have no intervals, as there are no predictions")
    degrees = np.maximum(units.min(axis=0) - 1, 1)
    p, pairs = crossing(values, (high - low) / (2 * stats.t.ppf(0.975, degrees)), degrees)
    k = int(p.argmin())
    (a, b), difference = pairs[k], values[pairs[k][0]] - values[pairs[k][1]]
    seeds, subsets = table.index, table["accuracy"].columns
    best = float(min(1.0, len(pairs) * p.min()))
    detail = (
        f"{int((len(pairs) * p < 0.05).sum())} of {len(pairs)} pairs of subnetworks cross; seed {seeds[a]} against "
        f"{seeds[b]}: {difference.max():+.1f} points on {subsets[difference.argmax()]}, {difference.min():+.1f} on "
        f"{subsets[difference.argmin()]}, p = {best:.2g}"
    )
    return Estimate.test(best, None, len(values), PRUNING_SEEDS, detail)


def crossing(values: np.ndarray, errors: np.ndarray, degrees: np.ndarray) -> tuple[np.ndarray, list[tuple[int, int]]]:
    """p for each two subnetworks that they do not cross, and which two.

    values, errors: accuracies and their standard errors, points, [subnetworks, subsets]. degrees: of freedom of the
    errors, [subsets]; few templates have few, and at the small p of many comparisons t is far from normal. Under the
    null hypothesis one of the two is nowhere better, or nowhere worse. Of either half the smallest p over subsets
    (Bonferroni) is one of a test, so that the larger of both is (Berger 1982).
    """
    pairs = list(combinations(range(len(values)), 2))
    a, b = np.array(pairs).T
    error = np.hypot(errors[a], errors[b])
    t = (values[a] - values[b]) / np.where(error > 0, error, np.inf)
    halves = np.stack([stats.t.sf(t, degrees), stats.t.cdf(t, degrees)]).min(axis=2)
    return np.minimum(1, values.shape[1] * halves.max(axis=0)), pairs
