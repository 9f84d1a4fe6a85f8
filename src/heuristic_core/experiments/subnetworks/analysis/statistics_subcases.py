"""Statistics for claims about families of subcases: whether subnetworks generalise to different ones."""

from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy import stats

from heuristic_core.experiments.subnetworks.analysis.accuracy import AUC, LABELS, J
from heuristic_core.experiments.subnetworks.analysis.evidence import Evidence
from heuristic_core.stats.estimates import DoesNotApply, Estimate, NotComputable, TooFewUnits, statistic
from heuristic_core.stats.seeds import PRUNING_SEEDS

READ_COLUMNS = ("accuracy", "low", "high", "units")


class Scores(NamedTuple):
    """A measure of subnetworks by family of subcases.

    Attributes:
        values: Points or percent, [subnetworks, families].
        errors: Standard errors, [subnetworks, families].
        degrees: Degrees of freedom of the errors, [families].
        seeds: Pruning seeds, [subnetworks].
        families: Names, [families].
    """

    values: np.ndarray
    errors: np.ndarray
    degrees: np.ndarray
    seeds: list
    families: list


@statistic
def crossings(evidence: Evidence, sparsity: str, points: float) -> Estimate:
    """Test whether two subnetworks cross: each is better than the other on a family of subcases, in J and in AUC.

    Subnetworks that differ only in overall quality do not cross. J does not count a preference for one label as
    quality, but another threshold of the classifier alone can make subnetworks cross in J; AUC is independent of the
    threshold. The tests are over evaluation pairs (or templates) and use the intervals of both measures. They ignore
    that subnetworks share pairs, which makes them conservative.

    Args:
        evidence: Tables of one fine-tuning run.
        sparsity: Target sparsity of the subnetworks, "mid" or "high".
        points: Size of a crossing in J, points, that the opposite tail rules out.

    Returns:
        Smallest p-value over pairs of subnetworks, Bonferroni-adjusted. The p-value of a pair is the larger one of the
        two measures (Berger 1982). The opposite p-value is that some pair crosses by `points` in J, the largest over
        pairs; it is at least 1 minus the p-value, since small crossings are crossings too.

    Raises:
        TooFewUnits: If there are fewer than two subnetworks.
        DoesNotApply: If there are fewer than two families.
        NotComputable: If a value or its interval is missing.
    """
    j, auc = (_read_scores(evidence, group, sparsity) for group in (J, AUC))
    pairs = list(combinations(range(len(j.values)), 2))
    p = np.maximum(compute_crossing_p(*j[:3]), compute_crossing_p(*auc[:3]))
    adjusted = float(min(1.0, len(pairs) * p.min()))
    opposite = max(1 - adjusted, float(compute_no_crossing_p(*j[:3], points).max()))
    first, second = pairs[int(p.argmin())]
    difference = j.values[first] - j.values[second]
    families = [family.replace("_", " ") for family in j.families]
    detail = (
        f"{int((len(pairs) * p < 0.05).sum())} of {len(pairs)} pairs of subnetworks cross; seed {j.seeds[first]} "
        f"against {j.seeds[second]}: {difference.max():+z.1f} points of J on {families[difference.argmax()]}, "
        f"{difference.min():+z.1f} on {families[difference.argmin()]}"
    )
    return Estimate.test(adjusted, opposite, len(j.seeds), PRUNING_SEEDS, detail)


def _read_scores(evidence: Evidence, group: str, sparsity: str) -> Scores:
    """Read J or AUC by family, with its errors."""
    rows, label = evidence.spread("family_scores", group, sparsity), LABELS[group]
    table = rows.pivot(index="seed", columns="family", values=[*READ_COLUMNS])
    arrays = (table[name].astype("Float64").to_numpy(float, na_value=np.nan) for name in READ_COLUMNS)
    values, low, high, units = arrays
    if len(values) < 2:
        raise TooFewUnits(f"only {len(values)} subnetworks")
    if values.shape[1] < 2:
        raise DoesNotApply(f"the study has {label} of {values.shape[1]} family")
    if np.isnan(values).any():
        seed, family = (int(indices[0]) for indices in np.nonzero(np.isnan(values)))
        subnetwork = f"pruning seed {table.index[seed]} on family {table['accuracy'].columns[family]}"
        raise NotComputable(f"no {label} of the subnetwork of {subnetwork}")
    if np.isnan([low, high]).any():
        raise NotComputable(f"{label} has no intervals, as there are no predictions")
    degrees = np.maximum(units.min(axis=0) - 1, 1)
    errors = (high - low) / (2 * stats.t.ppf(0.975, degrees))
    return Scores(values, errors, degrees, list(table.index), list(table["accuracy"].columns))


def compute_crossing_p(values: np.ndarray, errors: np.ndarray, degrees: np.ndarray) -> np.ndarray:
    """Test each pair of subnetworks for a crossing.

    Under the null hypothesis, one of the two subnetworks is nowhere better or nowhere worse. Each half of this
    hypothesis is tested by the smallest p-value over families (Bonferroni), and both together by the larger of the two
    (Berger 1982).

    Args:
        values: J or AUC, [subnetworks, families].
        errors: Standard errors, [subnetworks, families].
        degrees: Degrees of freedom of the errors, [families]. They matter with few templates: at the small p-values
            needed for many comparisons, the t distribution is far from normal.

    Returns:
        p-value of each pair of subnetworks, in the order of ``itertools.combinations``.
    """
    difference, error = _differences(values, errors)
    halves = np.stack([stats.t.sf(difference / error, degrees), stats.t.cdf(difference / error, degrees)]).min(axis=2)
    return np.minimum(1, values.shape[1] * halves.max(axis=0))


def compute_no_crossing_p(values: np.ndarray, errors: np.ndarray, degrees: np.ndarray, points: float) -> np.ndarray:
    """Test for each pair of subnetworks that it does not cross by `points`.

    Under the null hypothesis, each of the two is better by at least `points` on some family. This is rejected if one
    of them is on no family (the largest p-value over families, Berger 1982), whichever (Bonferroni). The largest
    p-value over pairs is a test that no pair crosses by `points`.

    Args:
        values: J or AUC, [subnetworks, families].
        errors: Standard errors, [subnetworks, families].
        degrees: Degrees of freedom of the errors, [families].
        points: Size of a crossing.

    Returns:
        p-value of each pair, as of :func:`compute_crossing_p`.
    """
    difference, error = _differences(values, errors)
    better = [stats.t.cdf((sign * difference - points) / error, degrees).max(axis=1) for sign in (1, -1)]
    return np.minimum(1, 2 * np.minimum(*better))


def _differences(values: np.ndarray, errors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the difference of each pair of subnetworks and its error, [pairs, families]; an error of 0 is unknown."""
    a, b = np.array(list(combinations(range(len(values)), 2))).T
    error = np.hypot(errors[a], errors[b])
    return values[a] - values[b], np.where(error > 0, error, np.inf)
