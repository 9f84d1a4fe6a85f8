"""Tests of random masks against chance: p is what it says, and effects that are there are found."""

import numpy as np
import pytest
from amounts import amount
from scipy import stats

from heuristic_core.experiments.heuristic_core.analysis import mask_effects as masks


def world(rng, effect, noise=6.0, count=60, subsets=4):
    """Masks, OOD accuracies and ID accuracy, with effect[head, subset] (or one for all subsets)."""
    inside = rng.random((count, len(effect))) < 0.5
    own = np.broadcast_to(np.asarray(effect, dtype=float).reshape(len(effect), -1), (len(effect), subsets))
    common = noise * rng.normal(size=(count, 1))  # what a mask has on all subsets
    levels = np.linspace(20, 60, subsets)
    return (
        inside,
        levels + inside @ own + common + noise * rng.normal(size=(count, subsets)),
        95 + rng.normal(size=(count, 1)),
    )


def p_of(statistic, rng, inside, *values):
    order = rng.permuted(np.tile(np.arange(len(inside)), (99, 1)), axis=1)
    drawn = statistic(inside, *(one[order] for one in values))
    return (1 + (drawn >= statistic(inside, *values) - 1e-9).sum()) / 100


@pytest.mark.sampled
def test_profiles_of_equal_effects_are_found_different_as_often_as_p_says():
    rng = np.random.default_rng(5)
    found = []
    for _ in range(amount(800)):
        inside, ood, _ = world(rng, [12.0, 0.0, -7.0])  # large effects, the same on all subsets
        found.append(p_of(masks.profile_variance, rng, inside, ood))
    assert stats.kstest(np.array(found) - rng.uniform(0, 0.01, len(found)), "uniform").pvalue > 0.01


@pytest.mark.sampled
def test_heads_without_effect_are_seldom_counter_heuristic():
    rng, count = np.random.default_rng(6), amount(800)
    found = [masks.counter(*world(rng, [0.0] * 4)).any() for _ in range(count)]
    assert np.sum(found) <= stats.binom.ppf(0.995, count, 0.05)


def test_effects_that_differ_are_found():
    rng = np.random.default_rng(7)
    inside, ood, id_ = world(rng, [[20, 0, 0, 0], [0, 20, 0, 0], [0, 0, 0, 0]], count=200)
    assert p_of(masks.profile_variance, rng, inside, ood) == 0.01
    assert masks.counter(inside, ood, id_).tolist() == [[True, *[False] * 3], [False, True, False, False], [False] * 4]
    harmful = id_ + 5 * inside[:, [0]]
    assert masks.counter(inside, ood, harmful).tolist() == [[False] * 4, [False, True, False, False], [False] * 4]


def test_only_a_head_of_both_signs_has_opposite_effects():
    rng = np.random.default_rng(8)
    inside, ood, _ = world(rng, [[20, -20, 0, 0], [20, 20, 0, 0], [0, -20, 0, -20]], count=200)
    p = masks.opposite(inside, ood)
    assert p[0] < 1e-6 and p[1] > 0.2 and p[2] > 0.2
