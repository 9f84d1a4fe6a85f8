"""Does accuracy decline with sparsity? Small tables with known answers, and how often chance is taken for a decline."""

import numpy as np
import pytest
from amounts import amount, by_chance
from claim_tables import evidence, group_row
from mentions import mentions
from scipy import stats

from heuristic_core.experiments.subnetworks.analysis import statistics_sparsity as sparsity
from heuristic_core.stats.estimates import TooFewUnits


def curves(rng, seeds: int, sparsities: int, correlation: float = 0.0, fall: float = 0.0) -> np.ndarray:
    """Accuracies, [seeds, sparsities], that fall by `fall` standard deviations of their noise at each step."""
    noise = rng.standard_normal((seeds, sparsities))
    for k in range(1, sparsities):
        noise[:, k] = correlation * noise[:, k - 1] + np.sqrt(1 - correlation**2) * noise[:, k]
    return noise - fall * np.arange(sparsities)


def rejected(make, repeats=300) -> np.ndarray:
    """How often a falling and a rising trend is found, at a level of 5 % for both together."""
    rng = np.random.default_rng(0)
    return np.mean([np.array(sparsity.compute_trend(make(rng), rng)[:2]) < 0.025 for _ in range(repeats)], axis=0)


@pytest.fixture(autouse=True)
def few_permutations(monkeypatch):
    monkeypatch.setattr(sparsity, "PERMUTATIONS", 400)


@pytest.mark.slow
@pytest.mark.sampled
@pytest.mark.parametrize("correlation", [0.0, 0.8, 0.95, 0.99])
@pytest.mark.parametrize(("seeds", "sparsities"), [(3, 14), (3, 4), (2, 4), (2, 14), (5, 14)])
def test_no_trend_is_rarely_taken_for_one(seeds, sparsities, correlation):
    """Page's test alone rejects for up to 22 % of autocorrelated curves, with the t test for 10 %, doubled for 7 %."""
    shares = rejected(lambda rng: curves(rng, seeds, sparsities, correlation), count := amount(4000, share=32))
    assert round(shares.sum() * count) <= by_chance(count)


def test_floors_are_no_trend():
    assert rejected(lambda rng: np.maximum(curves(rng, 3, 8) - 1, 0)).sum() < 0.06
    assert sparsity.compute_trend(np.zeros((3, 8)), np.random.default_rng(0))[:2] == (1, 1)


def test_three_seeds_show_a_decline():
    falling, rising = rejected(lambda rng: curves(rng, 3, 14, fall=0.35))
    assert falling > 0.9 and rising == 0
    falling, rising = rejected(lambda rng: curves(rng, 3, 14, fall=-0.35))
    assert rising > 0.9 and falling == 0


def test_the_trend_without_ties_is_pages():
    values = np.random.default_rng(1).standard_normal((4, 6)) - 0.3 * np.arange(6)
    sparsity.PERMUTATIONS = 20_000  # the fixture restores it
    result, _, trends = sparsity.compute_trend(values, np.random.default_rng(0))
    page = stats.page_trend_test(-values, method="exact").pvalue
    assert result == pytest.approx(
        sparsity.CORRECTION * max(page, stats.ttest_1samp(trends, 0, alternative="less").pvalue), abs=0.01
    )
    assert trends == pytest.approx([stats.spearmanr(row, range(6)).statistic for row in values])


def rows(values, seeds=(1, 2), group="ood"):
    """values: sparsity -> accuracy of each seed, None where its run failed."""
    return [
        group_row(value, sparsity=at, seed=seed, group=group)
        for at, of_seeds in values.items() for seed, value in zip(seeds, of_seeds, strict=True)
    ]  # fmt: skip


def test_seeds_that_lack_a_sparsity_are_left_out_of_the_trend():
    result = sparsity.sparsity_trend(
        evidence(group_accuracy=rows({0.1: (50, 54), 0.3: (20, 26), 0.5: (10, 1)})), group="ood"
    )
    assert (result.n, result.exact) == (2, True)
    assert result.value == pytest.approx(3 / 36, abs=0.05)  # one order of six in both seeds, three times
    assert result.opposite == pytest.approx(1)
    assert mentions(result.detail, "-1.00, -1.00", 52.0, 5.5)
    with pytest.raises(TooFewUnits):
        sparsity.sparsity_trend(
            evidence(group_accuracy=rows({0.1: (50, 54), 0.3: (20, None), 0.5: (10, 1)})), group="ood"
        )
    with pytest.raises(TooFewUnits):
        sparsity.sparsity_trend(evidence(group_accuracy=rows({0.1: (50, 54), 0.3: (20, 1)})), group="ood")
