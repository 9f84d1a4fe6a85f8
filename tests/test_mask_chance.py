"""Tests of random masks against chance: p is what it says, and effects that are there are found."""

import numpy as np
import pytest
from amounts import amount, by_chance
from scipy import stats

from heuristic_core.experiments.subnetworks.analysis import mask_effects as masks


def world(rng, effect, noise=6.0, count=60, subsets=4):
    """Masks, OOD and ID accuracies, and J, with effect[head, subset] (or one for all subsets)."""
    inside = rng.random((count, len(effect))) < 0.5
    effects = np.broadcast_to(np.asarray(effect, dtype=float).reshape(len(effect), -1), (len(effect), subsets))
    common = noise * rng.normal(size=(count, 1))  # what a mask has on all subsets
    levels = np.linspace(20, 60, subsets)
    ood = levels + inside @ effects + common + noise * rng.normal(size=(count, subsets))
    return inside, ood, 95 + rng.normal(size=(count, 1)), ood.mean(axis=1, keepdims=True) - 20


def permutation_p(statistic, rng, inside, *values):
    order = rng.permuted(np.tile(np.arange(len(inside)), (99, 1)), axis=1)
    drawn = statistic(inside, *(value[order] for value in values))
    return (1 + (drawn >= statistic(inside, *values) - 1e-9).sum()) / 100


@pytest.mark.sampled
def test_profiles_of_equal_effects_are_found_different_as_often_as_p_says():
    rng = np.random.default_rng(5)
    result = []
    for _ in range(amount(800)):
        inside, ood, *_ = world(rng, [12.0, 0.0, -7.0])  # large effects, the same on all subsets
        result.append(permutation_p(masks.profile_variance, rng, inside, ood))
    assert stats.kstest(np.array(result) - rng.uniform(0, 0.01, len(result)), "uniform").pvalue > 0.01


@pytest.mark.sampled
def test_heads_without_effect_are_seldom_counter_heuristic():
    rng, count = np.random.default_rng(6), amount(1000)
    result = [masks.find_counter_heuristic(*world(rng, [0.0] * 4)).any() for _ in range(count)]
    assert np.sum(result) <= by_chance(count)


def test_effects_that_differ_are_found():
    rng = np.random.default_rng(7)
    inside, ood, id_, j = world(rng, [[20, 0, 0, 0], [0, 20, 0, 0], [0, 0, 0, 0]], count=200)
    assert permutation_p(masks.profile_variance, rng, inside, ood) == 0.01
    assert masks.find_counter_heuristic(inside, ood, id_, j).tolist() == [
        [True, *[False] * 3],
        [False, True, False, False],
        [False] * 4,
    ]
    harmful = id_ + 5 * inside[:, [0]]
    assert masks.find_counter_heuristic(inside, ood, harmful, j).tolist() == [
        [False] * 4,
        [False, True, False, False],
        [False] * 4,
    ]


@pytest.mark.sampled
def test_a_head_that_changes_in_domain_accuracy_by_the_margin_is_seldom_counter_heuristic():
    """At most 5 % of the heads whose effect is the margin pass; most do that have none and a small error."""
    rng, count, passed = np.random.default_rng(12), amount(1000), []
    for error, effect in ((1.0, masks.ID_MARGIN), (4.0, masks.ID_MARGIN), (1.0, 0.0)):
        results = []
        for _ in range(count):
            inside, ood, id_, j = world(rng, [[20.0], [0.0], [0.0]])
            id_ = 95 + error * (id_ - 95) + effect * inside[:, [0]]
            results.append(masks.find_counter_heuristic(inside, ood, id_, j)[0].any())
        passed.append(np.sum(results))
    assert max(passed[:2]) <= by_chance(count) and passed[2] > count / 2


def test_a_head_whose_effect_on_the_task_is_not_known_well_is_not_counter_heuristic():
    """Its estimate is within a point, and so are those of heads without any effect; the error is several points."""
    rng = np.random.default_rng(13)
    inside, ood, id_, j = world(rng, [[20, 0, 0, 0], [0, 0, 0, 0]], count=200)
    vague = 95 + 15 * (id_ - 95)
    vague -= inside[:, [0]] * masks.estimate_effects(inside, vague).beta[0]
    assert abs(masks.estimate_effects(inside, vague).beta[0, 0]) < 0.01
    assert (
        masks.find_counter_heuristic(inside, ood, id_, j).any()
        and not masks.find_counter_heuristic(inside, ood, vague, j).any()
    )


def test_a_head_that_only_shifts_the_threshold_is_not_counter_heuristic():
    """It raises OOD accuracy as much as it lowers the entailment class, and leaves J as it is."""
    rng = np.random.default_rng(14)
    inside, ood, id_, j = world(rng, [[20, 20, 20, 20], [0, 0, 0, 0]], count=200)
    assert masks.find_counter_heuristic(inside, ood, id_, j)[0].all()
    assert not masks.find_counter_heuristic(inside, ood, id_, j - 20 * inside[:, [0]]).any()


def test_only_a_head_of_both_signs_has_opposite_effects():
    rng = np.random.default_rng(8)
    inside, ood, *_ = world(rng, [[20, -20, 0, 0], [20, 20, 0, 0], [0, -20, 0, -20]], count=200)
    p = masks.compute_opposite_p(inside, ood)
    assert p[0] < 1e-6 and p[1] > 0.2 and p[2] > 0.2
