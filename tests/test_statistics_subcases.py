"""Do subnetworks cross? Exact small cases, and how often nested subnetworks are taken for crossing ones."""

import numpy as np
import pytest
from amounts import amount, by_chance, first_fast
from claim_tables import evidence, group_row
from mentions import mentions, raises
from scipy import stats

from heuristic_core.experiments.subnetworks.analysis.statistics_subcases import compute_crossing_p, crossings
from heuristic_core.stats.bootstrap import bound_accuracy_interval
from heuristic_core.stats.estimates import DoesNotApply, NotComputable, TooFewUnits
from heuristic_core.stats.verdicts import decide_verdict

OPTIONS = {"sparsity": "mid"}
LEVEL = "p < 0.05"
MANY = 10**6  # degrees of freedom: t is normal


def crossed(values, half=3.0, units=200, auc=None):
    """The statistic of J, family -> of each seed, with intervals of `half` points to each side; AUC is equal to J."""
    rows = family_rows(values, half, units) + family_rows(auc or values, half, units, "auc")
    return crossings(evidence(family_scores=rows), **OPTIONS)


def family_rows(values, half=3.0, units=200, group="j"):
    return [
        group_row(value, group, seed=seed, family=family, low=value - half, high=value + half, units=units, unit="pair")
        for family, of_seeds in values.items()
        for seed, value in enumerate(of_seeds, start=1)
    ]


def test_nested_subnetworks_do_not_cross():
    """Each is better than the one before on every subset, however much more on some."""
    result = crossed({"a": (0, 10, 20, 40), "b": (50, 60, 70, 99), "c": (5, 6, 5, 7)})
    assert (result.value, result.opposite, result.n, result.exact) == (1, None, 4, True)
    assert mentions(result.detail, 0, 6) and decide_verdict(result, LEVEL) == "not clear"


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
    (p,), pairs = compute_crossing_p(values, np.full((2, 3), 1.0), np.full(3, MANY))
    assert pairs == [(0, 1)] and p == 1  # three subsets times one half
    (p,), _ = compute_crossing_p(values - [[0, 0, 0], [0, 0, 2]], np.full((2, 3), 1.0), np.full(3, MANY))
    assert p == pytest.approx(3 * stats.norm.sf(np.sqrt(2)), rel=1e-4)


def test_accuracies_without_errors_say_nothing():
    """An error of 0 is not certainty: it is of a bootstrap that never varied."""
    (p,), _ = compute_crossing_p(np.array([[0.0, 100.0], [100.0, 0.0]]), np.zeros((2, 2)), np.full(2, MANY))
    assert p == 1
    (p,), _ = compute_crossing_p(
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
        p, pairs = compute_crossing_p(values, (high - low) / (2 * stats.t.ppf(0.975, degrees)), degrees)
        result += len(pairs) * p.min() < 0.05
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
        (p_j, pairs), (p_auc, _) = (compute_crossing_p(*measure, degrees) for measure in measures)
        by_j += len(pairs) * p_j.min() < 0.05
        by_both += len(pairs) * np.maximum(p_j, p_auc).min() < 0.05
    assert by_both <= by_chance(count) < by_j


@pytest.mark.parametrize("subnetworks", [2, 5, 10])
def test_subnetworks_that_differ_by_subset_cross(subnetworks):
    rng = np.random.default_rng(subnetworks)
    result = supported(lambda: rng.uniform(0, 100, (subnetworks, 6)), lambda truth: simulate_pairs(truth, rng), 100)
    assert result > 80
