"""Do subnetworks cross? Exact small cases, and how often nested ones are taken for crossing ones, and the reverse."""

import numpy as np
import pytest
from amounts import amount, by_chance, first_fast
from claim_tables import evidence, group_row
from mentions import mentions, raises
from scipy import stats
from test_measures import drawn

from heuristic_core.experiments.subnetworks.analysis.measures import Subset, compute_measures
from heuristic_core.experiments.subnetworks.analysis.statistics_subcases import (
    compute_crossing_p,
    compute_no_crossing_p,
    crossings,
)
from heuristic_core.stats.bootstrap import bound_accuracy_interval
from heuristic_core.stats.estimates import DoesNotApply, NotComputable, TooFewUnits
from heuristic_core.stats.verdicts import decide_verdict

OPTIONS = {"sparsity": "mid", "points": 10}
LEVEL = "p < 0.05"
MANY = 10**6  # degrees of freedom: t is normal


def crossed(values, half=3.0, units=200, auc=None):
    """The statistic of J, family -> of each seed, with intervals of `half` points to each side; AUC is equal to J."""
    rows = family_rows(values, half, units) + family_rows(auc or values, half, units, "auc")
    return crossings(evidence(family_scores=rows), **OPTIONS)


def family_rows(values, half=3.0, units=200, group="j"):
    return [
        group_row(
            value, group, seed=seed, family=family, low=value - half, high=value + half, units=units, unit="example"
        )
        for family, of_seeds in values.items()
        for seed, value in enumerate(of_seeds, start=1)
    ]


def test_nested_subnetworks_do_not_cross():
    """Each is better than the one before on every subset, however much more on some."""
    result = crossed({"a": (0, 10, 20, 40), "b": (50, 60, 70, 99), "c": (5, 6, 5, 7)})
    assert (result.value, result.n, result.exact) == (1, 4, True) and result.opposite < 0.001
    assert mentions(result.detail, 0, 6) and decide_verdict(result, LEVEL) == "contradicted"
    wide = crossed({"a": (0, 10, 20, 40), "b": (50, 60, 70, 99), "c": (5, 6, 5, 7)}, half=12)
    assert wide.value == 1 and decide_verdict(wide, LEVEL) == "not clear"


def test_a_crossing_below_ten_points_is_none_only_where_its_size_is_sure():
    """Seed 2 is better by 2 points on one family and worse by 3 on another."""
    error = np.sqrt(2) / stats.t.ppf(0.975, 199)
    result = crossed({"a": (20, 22), "b": (50, 47)}, half=1.0)
    assert result.opposite == pytest.approx(max(1 - result.value, 2 * stats.t.cdf((2 - 10) / error, 199)))
    values, errors = np.array([[20.0, 50.0], [22.0, 47.0]]), np.full((2, 2), error / np.sqrt(2))
    (p,) = compute_no_crossing_p(values, errors, np.full(2, 199), 10)
    assert p == pytest.approx(2 * stats.t.cdf((2 - 10) / error, 199))
    assert compute_no_crossing_p(values, np.zeros((2, 2)), np.full(2, 199), 10) == 1


def test_a_sure_small_crossing_supports():
    """It is no crossing by 10 points, which is sure as well."""
    result = crossed({"a": (20, 24), "b": (50, 44)}, half=0.5)
    assert result.value < 1e-6 < 0.9 < result.opposite and decide_verdict(result, LEVEL) == "supported"


def test_one_clear_crossing_is_found():
    """Seed 4 and any other: p is of the smaller difference, times two subsets and six pairs of subnetworks."""
    result = crossed({"a": (20, 20, 20, 60), "b": (50, 50, 50, 40)})
    t = stats.t.ppf(0.975, 199)
    expected = 6 * 2 * stats.t.sf(10 / (3 / t * np.sqrt(2)), 199)
    assert result.value == pytest.approx(expected) and decide_verdict(result, LEVEL) == "supported"
    assert mentions(result.detail, 3, 6, 1, 4, "+10.0", "b", "-40.0", "a")
    assert crossed({"a": (20, 60), "b": (50, 40)}).value == pytest.approx(expected / 6)


def test_a_crossing_must_be_in_auc_as_well():
    """Another threshold moves J of one family up and of the other down; AUC stays."""
    values = {"a": (20, 60), "b": (50, 40)}
    assert crossed(values, auc={"a": (70, 70), "b": (80, 80)}).value == 1
    assert crossed(values, auc={"a": (70, 90), "b": (80, 80)}).value == 1
    assert crossed(values, auc={"a": (70, 90), "b": (80, 75)}).value < 0.05


def test_one_difference_is_no_crossing():
    values = np.array([[20.0, 50.0, 50.0], [90.0, 50.0, 50.0]])
    (p,) = compute_crossing_p(values, np.full((2, 3), 1.0), np.full(3, MANY))
    assert p == 1  # three subsets times one half
    (p,) = compute_crossing_p(values - [[0, 0, 0], [0, 0, 2]], np.full((2, 3), 1.0), np.full(3, MANY))
    assert p == pytest.approx(3 * stats.norm.sf(np.sqrt(2)), rel=1e-4)


def test_accuracies_without_errors_say_nothing():
    """An error of 0 is not certainty: it is of a bootstrap that never varied."""
    (p,) = compute_crossing_p(np.array([[0.0, 100.0], [100.0, 0.0]]), np.zeros((2, 2)), np.full(2, MANY))
    assert p == 1
    (p,) = compute_crossing_p(
        np.array([[0.0, 100.0], [100.0, 0.0]]), np.array([[0.0, 0.0], [1.0, 1.0]]), np.full(2, MANY)
    )
    assert p < 1e-6


def test_few_templates_need_a_larger_difference():
    """Three templates have two degrees of freedom."""
    values = {"a": (20, 20, 20, 60), "b": (50, 50, 50, 40)}
    assert (
        decide_verdict(crossed(values, units=3), LEVEL) == "not clear"
        and decide_verdict(crossed(values), LEVEL) == "supported"
    )


def test_what_cannot_cross():
    with raises(TooFewUnits, 1):
        crossed({"a": (20,), "b": (50,)})
    with raises(DoesNotApply, 1):
        crossed({"a": (20, 60)})
    values = {"a": (20, 60), "b": (50, 40)}
    with raises(NotComputable, "AUC"):
        crossings(evidence(family_scores=family_rows(values)), **OPTIONS)
    rows = family_rows(values) + family_rows(values, group="auc")
    with raises(NotComputable, 2, "b"):
        crossings(evidence(family_scores=[row for row in rows if (row["seed"], row["family"]) != (2, "b")]), **OPTIONS)
    rows = [row | {"low": None, "high": None} for row in rows]
    with raises(NotComputable, "predictions"):
        crossings(evidence(family_scores=rows), **OPTIONS)


# ---- simulations


def simulate_pairs(truth, rng, pairs=100):
    """Accuracies of 0/1 answers, the ends of their bootstrap intervals, and degrees of freedom. truth: percent."""
    share = rng.binomial(pairs, truth / 100) / pairs
    low, high = (100 * stats.binom.ppf(tail, pairs, share) / pairs for tail in (0.025, 0.975))
    return 100 * share, *bound_accuracy_interval(low, high, pairs), pairs - 1


def simulate_templates(truth, rng, templates):
    """The same where templates differ by a standard deviation of 5 points."""
    drawn = truth[..., None] + rng.normal(0, 5, (*truth.shape, templates))
    half = stats.t.ppf(0.975, templates - 1) * drawn.std(axis=-1, ddof=1) / np.sqrt(templates)
    mean = drawn.mean(axis=-1)
    return mean, mean - half, mean + half, templates - 1


def nested(rng, subnetworks, subsets, kind):
    """True accuracies, percent, [subnetworks, subsets], of subnetworks with one ability each.

    kind: the ability helps on all subsets, more or less ("graded"), or on the first alone, which is the hardest: there
    any difference elsewhere is chance, and one half of a crossing is certain.
    """
    slope = rng.uniform(0, 2, subsets) if kind == "graded" else np.r_[8.0, np.zeros(subsets - 1)]
    return 100 / (1 + np.exp(rng.normal(0, 1.5, subsets) - np.outer(rng.normal(size=subnetworks), slope)))


def supported(make, measure, count):
    """How often two of the subnetworks are found to cross."""
    result = 0
    for _ in range(count):
        values, low, high, degrees = measure(make())
        degrees = np.full(values.shape[1], degrees)
        p = compute_crossing_p(values, (high - low) / (2 * stats.t.ppf(0.975, degrees)), degrees)
        result += len(p) * p.min() < 0.05
    return result


@pytest.mark.sampled
@pytest.mark.parametrize("kind", ["graded", "first"])
@pytest.mark.parametrize("subsets", first_fast(15, 2, 6))
@pytest.mark.parametrize("subnetworks", first_fast(10, 5, 2, fast=2))
def test_nested_abilities_are_not_taken_for_crossings(subnetworks, subsets, kind):
    """A share of variance that single subsets have took them for it in 43 to 100 % of studies."""
    rng, count = np.random.default_rng([subnetworks, subsets]), amount(1600)
    result = supported(lambda: nested(rng, subnetworks, subsets, kind), lambda truth: simulate_pairs(truth, rng), count)
    assert result <= by_chance(count)


@pytest.mark.sampled
@pytest.mark.parametrize("templates", first_fast(3, 2, 5, 12))
@pytest.mark.parametrize("subnetworks", [2, 10])
def test_nested_abilities_on_few_templates_are_not_taken_for_crossings(subnetworks, templates):
    """With normal errors 16 % were, of ten subnetworks, 15 subsets and three templates."""
    rng, count = np.random.default_rng([subnetworks, templates]), amount(1600)
    make = lambda: nested(rng, subnetworks, 15, "first")  # noqa: E731
    assert supported(make, lambda truth: simulate_templates(truth, rng, templates), count) <= by_chance(count)


def simulate_scores(rng, separation, shift, pairs=200):
    """J and AUC, percent, and their errors, of scores that differ between the labels by `separation` deviations."""
    negative = rng.normal(-separation / 2, 1, (pairs, *separation.shape)) + shift
    positive = rng.normal(separation / 2, 1, (pairs, *separation.shape)) + shift
    above = np.array([(positive > 0).mean(axis=0), (negative > 0).mean(axis=0)])
    j, j_error = above[0] - above[1], np.sqrt((above * (1 - above)).sum(axis=0) / pairs)
    wins = (positive[:, None] > negative[None]).astype(float)
    spread = [wins.mean(axis=axis).var(axis=0, ddof=1) for axis in (0, 1)]
    return (100 * j, 100 * j_error), (100 * wins.mean(axis=(0, 1)), 100 * np.sqrt(np.sum(spread, axis=0) / pairs))


@pytest.mark.sampled
@pytest.mark.parametrize("subnetworks", first_fast(10, 2, 5))
def test_thresholds_of_the_classifier_are_not_taken_for_crossings(subnetworks):
    """Families have different base rates, so that by J alone a threshold makes subnetworks cross in most studies."""
    rng, count, degrees = np.random.default_rng(subnetworks), amount(1000), np.full(2, 199)
    by_j, by_both = 0, 0
    for _ in range(count):
        shift = rng.normal(0, 1, (subnetworks, 1)) + np.array([1.5, -1.5])
        measures = simulate_scores(rng, np.full((subnetworks, 2), 2.0), shift)
        p_j, p_auc = (compute_crossing_p(*measure, degrees) for measure in measures)
        by_j += len(p_j) * p_j.min() < 0.05
        by_both += len(p_j) * np.maximum(p_j, p_auc).min() < 0.05
    assert by_both <= by_chance(count) < by_j


@pytest.mark.parametrize("subnetworks", [2, 5, 10])
def test_subnetworks_that_differ_by_subset_cross(subnetworks):
    rng = np.random.default_rng(subnetworks)
    result = supported(lambda: rng.uniform(0, 100, (subnetworks, 6)), lambda truth: simulate_pairs(truth, rng), 100)
    assert result > 80


@pytest.mark.sampled
@pytest.mark.parametrize("templates", [None, 3])
@pytest.mark.parametrize(("subnetworks", "worse"), first_fast((2, 10), (10, 10), (2, 40)))
def test_a_crossing_of_ten_points_is_seldom_ruled_out(subnetworks, worse, templates):
    """The first is better than all others by 10 points on one family, and worse by 10 or more on another."""
    rng, count, contradicted = np.random.default_rng([subnetworks, worse]), amount(1600), 0
    truth = np.tile([40.0, 60.0, 50.0], (subnetworks, 1))
    truth[0] += [10, -worse, 0]
    for _ in range(count):
        values, low, high, degrees = (
            simulate_templates(truth, rng, templates) if templates else simulate_pairs(truth, rng, 400)
        )
        errors = (high - low) / (2 * stats.t.ppf(0.975, degrees))
        contradicted += compute_no_crossing_p(values, errors, np.full(3, degrees), 10).max() < 0.025
    assert contradicted <= by_chance(count) / 2


def test_nested_subnetworks_measured_well_contradict():
    rng, contradicted = np.random.default_rng(0), 0
    for _ in range(100):
        truth = np.array([[30.0, 40, 50], [32, 41, 50], [60, 65, 70]])
        values, low, high, degrees = simulate_pairs(truth, rng, 2000)
        errors = (high - low) / (2 * stats.t.ppf(0.975, degrees))
        contradicted += compute_no_crossing_p(values, errors, np.full(3, degrees), 10).max() < 0.025
    assert contradicted > 95


@pytest.mark.slow
@pytest.mark.sampled
@pytest.mark.parametrize(("units", "templates"), [(60, False), (4, True)])
def test_equal_aucs_near_the_ceiling_are_not_taken_for_a_crossing(units, templates):
    """AUC is 99.3 on the second family, where a threshold alone makes J cross; the first family differs for sure."""
    rng, count, rejected = np.random.default_rng(units), amount(1000), 0
    for _ in range(count):
        parts = []
        for family, shift in (("a", 1.0), ("b", 3.5)):
            for part in drawn(rng, ([units], [units]), shift, templates):
                sign = 1 if part.identity["group"] == "ood" else -1
                moved = np.hstack([part.log_odds + 1.5 if family == "a" else part.log_odds + 1.5 * sign, part.log_odds])
                draws = 100 * part.resamples.means(moved > 0)
                identity = part.identity | {"family": family}
                parts.append(Subset(identity, moved > 0, moved, draws, part.resamples))
        p = []
        for group in ("j", "auc"):
            columns = [measure.columns() for measure in compute_measures(parts)[1] if measure.group == group]
            values, low, high = (np.array([of[name] for of in columns]).T for name in ("accuracy", "low", "high"))
            degrees = np.array([of["units"] - 1 for of in columns])
            p.append(compute_crossing_p(values, (high - low) / (2 * stats.t.ppf(0.975, degrees)), degrees))
        rejected += np.max(p) < 0.025
    assert rejected <= by_chance(count) / 2
