"""Do intervals hold the truth as often as they say? Simulations with known truths; every draw has its seed."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import ndtr

from heuristic_core.analysis.bootstrap import Resamples, degrees_of_freedom, interval, of_change
from heuristic_core.experiments.heuristic_core.analysis.statistics_accuracy import mean_sd_interval

REPEATS = 400
BELOW = 0.03  # of a rate that 400 repeats measure: more than two and a half standard errors at 95 %


def subsets_of_seeds(rng, seeds: int, subsets: int, correlation: float, kind: str) -> np.ndarray:
    """Accuracies, [seeds, subsets], whose subsets move together over seeds; "heaped" has most near 0 and 100."""
    common, own = rng.standard_normal((seeds, 1)), rng.standard_normal((seeds, subsets))
    normal = np.sqrt(correlation) * common + np.sqrt(1 - correlation) * own
    return 50 + 5 * normal if kind == "normal" else 100 * np.sin(np.pi / 2 * ndtr(normal)) ** 2


@pytest.mark.parametrize("kind", ["normal", "heaped"])
@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.95])
@pytest.mark.parametrize("seeds", [3, 12])
def test_the_mean_standard_deviation_over_subsets(seeds, correlation, kind):
    """A percentile bootstrap holds it in 40 to 82 % of such cases."""
    rng = np.random.default_rng([seeds, int(100 * correlation)])
    truth = subsets_of_seeds(rng, 100_000, 11, correlation, kind).std(axis=0).mean()
    ends = [mean_sd_interval(subsets_of_seeds(rng, seeds, 11, correlation, kind)) for _ in range(REPEATS)]
    assert np.mean([low <= truth <= high for low, high in ends]) > (0.92 if seeds == 3 else 0.95) - BELOW


def test_one_subset_has_the_chi_squared_interval():
    values = np.array([[1.0], [2.0], [4.0], [8.0]])
    expected = [values.std(ddof=1) * np.sqrt(3 / stats.chi2.ppf(tail, 3)) for tail in (0.975, 0.025)]
    assert mean_sd_interval(values) == pytest.approx(expected)
    assert mean_sd_interval(np.ones((4, 2))) == (0, 0)


def by_templates(rng, templates: list[int]) -> list[tuple[np.ndarray, list[str]]]:
    """Values of pairs and their templates, for one subset of each number of templates: templates differ by sd 10."""
    found = []
    for number in templates:
        means = 50 + 10 * rng.standard_normal(number)
        found.append(
            (np.repeat(means, 5) + rng.standard_normal(5 * number), [f"t{k}" for k in range(number) for _ in range(5)])
        )
    return found


@pytest.mark.parametrize(
    ("templates", "share"),
    [([2] * 15, 0.95), ([4] * 3, 0.95), ([12], 0.95), ([2], 0.92), ([3, 30], 0.91), ([2, 30], 0.87)],
)
def test_the_mean_over_a_groups_subsets_of_few_templates(templates, share):
    """Two templates draw three different means, and a mean over unlike parts hangs on the few templates of some."""
    rng, held, widths = np.random.default_rng(len(templates)), [], []
    for _ in range(REPEATS):
        parts = by_templates(rng, templates)
        draws = [Resamples(names, 300, rng).means(values) for values, names in parts]
        low, high = interval(draws, templates, np.mean([values.mean() for values, _ in parts]))
        held.append(low <= 50 <= high)
        widths.append(high - low)
    assert np.mean(held) > share - BELOW
    if templates == [2] * 15:  # inflated by subset it would be six times as wide
        assert np.median(widths) < 2 * 2 * 1.96 * 10 / np.sqrt(30)


def test_degrees_of_freedom_add_up_over_like_parts():
    rng = np.random.default_rng(0)
    draws = [rng.standard_normal((5000, 2)) for _ in range(10)]
    assert degrees_of_freedom(draws, [3] * 10) == pytest.approx([20, 20], rel=0.1)
    assert degrees_of_freedom([draws[0], 0 * draws[0]], [3, 100]) == pytest.approx([2, 2])
    assert degrees_of_freedom([0 * draws[0]], [1]) == pytest.approx([1, 1])


def test_a_change_that_no_pair_shows_is_uncertain_all_the_same():
    """Two models that agree on all of 30 pairs may differ on up to 11 % of others; a model agrees with itself."""
    low, high = of_change(np.array([0.0, 0.0, 2.0]), np.array([0.0, 0.0, 4.0]), 30, np.array([1, 0, 1]))
    reach = 100 * stats.binomtest(0, 30).proportion_ci(method="wilson").high
    assert low == pytest.approx([-reach, 0, 2]) and high == pytest.approx([reach, 0, 4])
