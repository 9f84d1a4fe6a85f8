"""Intervals of means over seeds of which some are known as bounds: how often they hold the truth."""

import numpy as np
import pytest
from amounts import amount, least_held

from heuristic_core.stats.bounds import MIN_SEEDS, compute_bounded_interval

DRAWS = amount(2000)


def test_equal_values_at_a_limit_have_the_bound_of_clopper_and_pearson():
    assert compute_bounded_interval(np.zeros(6), np.zeros(6)) == pytest.approx(
        (0, 100 * (1 - 0.025 ** (1 / 6))), abs=1e-4
    )
    low, high = compute_bounded_interval(np.full(6, 50.0), np.full(6, 50.0))
    assert (low, high) == pytest.approx((50 * 0.025 ** (1 / 6), 100 - 50 * 0.025 ** (1 / 6)), abs=1e-4)


def test_the_ends_are_those_of_the_bounds_and_of_the_pairs():
    least, most = np.array([0, 10, 20, 30, 40, 80.0]), np.array([20, 10, 20, 30, 40, 100.0])
    low, high = compute_bounded_interval(least, most)
    assert low == compute_bounded_interval(least, least)[0] and high == compute_bounded_interval(most, most)[1]
    of_both = compute_bounded_interval(least, most, np.full(6, 5.0))
    assert of_both[0] == pytest.approx(least.mean() - np.hypot(least.mean() - low, 5))
    assert of_both[1] == pytest.approx(most.mean() + np.hypot(high - most.mean(), 5))


def test_few_seeds_and_unknown_sizes_have_none():
    for values in (np.arange(MIN_SEEDS - 1.0), np.array([*range(MIN_SEEDS), np.nan])):
        assert np.isnan(compute_bounded_interval(values, values)).all()


def check_coverage(sizes, truth):
    """sizes: [draws, seeds]; those beyond a grid from 20 to 80 are bounds. Nominal 95 %, at least 90."""
    least, most = np.where(sizes > 80, 80, np.where(sizes < 20, 0, sizes)), sizes.copy()
    most[sizes > 80], most[sizes < 20] = 100, 20
    ends = [compute_bounded_interval(*item) for item in zip(least, most, strict=True)]
    assert sum(low <= truth <= high for low, high in ends) >= least_held(len(ends))


@pytest.mark.sampled
@pytest.mark.parametrize("n", [6, 10])
@pytest.mark.parametrize(("mean", "sd"), [(85, 8), (70, 15), (25, 10), (10, 20)])
def test_coverage_of_normal_sizes(n, mean, sd):
    truth = np.random.default_rng(n + mean).normal(mean, sd, 200_000).clip(0, 100).mean()
    check_coverage(np.random.default_rng([n, mean]).normal(mean, sd, (DRAWS, n)).clip(0, 100), truth)


@pytest.mark.sampled
@pytest.mark.parametrize("n", [6, 12])
@pytest.mark.parametrize("share", [0.5, 0.7, 0.85, 0.95])
def test_coverage_of_sizes_with_two_values(n, share):
    """A seed has a small faithful subnetwork, or none below a large one."""
    rng = np.random.default_rng([n, int(100 * share)])
    sizes = np.where(rng.random((DRAWS, n)) < share, 22.0, 70.0) + rng.uniform(-1, 1, (DRAWS, n))
    check_coverage(sizes, 22 * share + 70 * (1 - share))
