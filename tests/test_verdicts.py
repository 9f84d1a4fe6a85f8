"""The rule of verdicts: one fine-tuning seed, several, and how often the rule errs; every draw has its seed."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from claim_tables import SPREAD, actual, evidence
from scipy import stats

from heuristic_core.analysis import verdicts
from heuristic_core.analysis.estimates import Estimate
from heuristic_core.analysis.seeds import FINE_TUNING_SEEDS
from heuristic_core.analysis.verdicts import verdict
from heuristic_core.experiments.heuristic_core.analysis import statistics_accuracy
from heuristic_core.experiments.heuristic_core.analysis.core import common_heads

LEVEL = "p < 0.05"
over_seeds = partial(verdicts.over_seeds, unit=FINE_TUNING_SEEDS)


def of_test(p, opposite=None):
    return Estimate(p, exact=True, opposite=opposite)


@pytest.mark.parametrize(
    ("estimate", "threshold", "expected"),
    [
        (Estimate(5, 4, 6), "> 3", "supported"),
        (Estimate(5, 2, 8), "> 3", "undecided"),
        (Estimate(1, 0, 2), "> 3", "not supported"),
        (Estimate(5), "> 3", "undecided"),  # no interval: a value alone decides nothing
        (Estimate(1), "> 3", "undecided"),
        (Estimate(5, np.nan, np.nan), "> 3", "undecided"),
        (Estimate(np.nan, exact=True), "> 3", "undecided"),
        (Estimate(2, exact=True), "< 3", "supported"),
        (Estimate(3, exact=True), "< 3", "not supported"),
        (Estimate(0.0, 0.0, 0.0), ">= 0", "supported"),
        (of_test(0.01, 0.995), LEVEL, "supported"),
        (of_test(0.2, 0.85), LEVEL, "undecided"),
        (of_test(0.9, 0.2), LEVEL, "undecided"),
        (of_test(0.97, 0.04), LEVEL, "not supported"),
        (of_test(0.01), LEVEL, "supported"),
        (of_test(1.0), LEVEL, "undecided"),  # two-sided: there is no other tail
        (of_test(0.01, 0.02), LEVEL, "undecided"),  # seeds that contradict each other
        (of_test(np.nan, np.nan), LEVEL, "undecided"),
    ],
)
def test_verdicts(estimate, threshold, expected):
    assert verdict(estimate, threshold) == expected


# ---- tests


def test_a_two_sided_test_never_speaks_against(monkeypatch):
    """By "p above one half" it did in 26 % of such cases: true rho 0.4, 12 seeds."""
    monkeypatch.setattr(statistics_accuracy, "PERMUTATIONS", 300)
    draw = np.random.default_rng(0).multivariate_normal([0, 0], [[1, 0.4], [0.4, 1]], (40, 12))
    rows = [row | {"seed": seed} for seed, row in enumerate(3 * SPREAD, start=1)]
    context = evidence(group_accuracy=rows).context.model_copy(update={"seeds": tuple(range(1, 13))})
    found = []
    for kept, accuracy in draw.swapaxes(1, 2):
        tables = {
            "group_accuracy": [row | {"accuracy": 50 + value} for row, value in zip(rows, accuracy, strict=True)],
            "components": [
                row | {"seed": seed, "actual_sparsity": 0.3 + share / 100}
                for seed, (row, share) in enumerate(zip(3 * actual(0, 0, 0, 0), kept, strict=True), start=1)
            ],
        }
        about = evidence(**tables)
        object.__setattr__(about, "context", context)
        one = statistics_accuracy.sparsity_correlation(about, group="ood", sparsity="mid")
        found.append((one.value > 0.5, verdict(one, LEVEL)))
    judged = [kind for _, kind in found]
    assert np.mean([above for above, _ in found]) > 0.1
    assert "not supported" not in judged and {"supported", "undecided"} == set(judged)


def test_none_where_hardly_any_is_expected_decides_nothing():
    """By "p above one half" a p of 1 spoke against: 0 heads in common, 0.1 expected."""
    layer = pd.Series([0] * 10)
    found = common_heads(layer, layer.index == pd.Series([3] * 10), layer.index == pd.Series([5] * 10))
    assert (found.observed, found.expected, found.p) == (0, pytest.approx(0.1), 1)
    assert verdict(of_test(found.p, found.p_fewer), LEVEL) == "undecided"


@pytest.mark.parametrize("seeds", [1, 3, 10])
def test_tests_keep_their_level_in_both_tails(seeds):
    """Of heads drawn at random, at most one in twenty studies finds more in common than by chance, or fewer."""
    rng = np.random.default_rng(seeds)
    table = {k: [stats.hypergeom.sf(k - 1, 24, 12, 8), stats.hypergeom.cdf(k, 24, 12, 8)] for k in range(9)}
    studies = [[of_test(*table[k]) for k in study] for study in rng.hypergeometric(12, 12, 8, (2000, seeds))]
    judged = [verdict(over_seeds(study, LEVEL) if seeds > 1 else study[0], LEVEL) for study in studies]
    assert max(judged.count("supported"), judged.count("not supported")) <= 0.055 * len(studies)


# ---- several fine-tuning seeds


def supported(seeds, effect, between=0.0, studies=1000):
    """How often studies support "> 0" where a seed's estimate is normal, its own standard error 1."""
    rng = np.random.default_rng([seeds, int(10 * effect)])
    values = rng.normal(effect, np.hypot(1, between), (studies, seeds))
    estimates = [[Estimate(value, value - 1.96, value + 1.96) for value in study] for study in values]
    judged = [verdict(over_seeds(study, "> 0") if seeds > 1 else study[0], "> 0") for study in estimates]
    return judged.count("supported") / studies


def test_more_fine_tuning_seeds_make_a_study_stronger():
    """Where one seed supports a claim with probability 0.85, all of 2, 5 and 10 do with 0.72, 0.44 and 0.20."""
    effect = stats.norm.ppf(0.975) + stats.norm.ppf(0.85)
    assert supported(1, effect) == pytest.approx(0.85, abs=0.03)
    of_two, of_five, of_ten = (supported(seeds, effect) for seeds in (2, 5, 10))
    assert of_two < of_five <= of_ten  # two have one degree of freedom
    assert of_five > 0.95 and of_ten > 0.99


@pytest.mark.parametrize("seeds", [2, 3, 10])
def test_a_study_without_an_effect_supports_a_claim_in_one_of_forty(seeds):
    """Whatever the seeds' own intervals say: fine-tuning seeds differ twice as much as these know of."""
    assert supported(seeds, 0.0, between=2.0) <= 0.025 + 0.012
    assert supported(1, 0.0, between=2.0) > 0.15


def test_tests_of_several_seeds_are_combined():
    whole = over_seeds([of_test(0.08, 0.95), of_test(0.1, 0.94), of_test(0.06, 0.96)], LEVEL)
    assert whole.value == pytest.approx(stats.norm.sf(stats.norm.isf([0.08, 0.1, 0.06]).sum() / np.sqrt(3)))
    assert (verdict(whole, LEVEL), whole.n, whole.low) == ("supported", 3, None)
    apart = over_seeds([of_test(1e-6, 1.0), of_test(1.0, 1e-6)], LEVEL)
    assert verdict(apart, LEVEL) == "undecided"
    against = over_seeds([of_test(1e-4, 1.0), of_test(0.97, 0.04)], LEVEL)
    assert against.value > 0.05 and verdict(against, LEVEL) == "undecided"
    discrete = over_seeds([of_test(1e-6, 1.0), of_test(1e-6, 1.0), of_test(1.0, 1.0)], LEVEL)
    assert verdict(discrete, LEVEL) == "supported"
    assert over_seeds([of_test(0.5), of_test(0.5)], LEVEL).opposite is None


@pytest.mark.parametrize("seeds", [2, 5])
def test_combined_tests_of_nothing_support_in_one_of_twenty(seeds):
    drawn = np.random.default_rng(0).random((4000, seeds))
    judged = [verdict(over_seeds([of_test(p, 1 - p) for p in row], LEVEL), LEVEL) for row in drawn]
    assert judged.count("supported") / 4000 == pytest.approx(0.05, abs=0.012)
    assert judged.count("not supported") / 4000 == pytest.approx(0.05, abs=0.012)


def test_seeds_at_one_value_have_their_own_intervals():
    """A t interval would have no width, as if two seeds at a floor were certain."""
    floor = over_seeds([Estimate(0.0, 0.0, 3.0), Estimate(0.0, 0.0, 6.0)], "< 5")
    assert (floor.value, floor.low, floor.high, verdict(floor, "< 5")) == (0, 0, 6, "undecided")
    counts = over_seeds([Estimate(0, exact=True)] * 3, "< 1")
    assert (counts.low, counts.high, verdict(counts, "< 1")) == (0, 0, "supported")
    unknown = over_seeds([Estimate(1.0), Estimate(1.0, 0.0, 2.0)], "< 5")
    assert verdict(unknown, "< 5") == "undecided"


def test_two_seeds_that_agree_by_chance_are_not_more_certain_than_each_of_them():
    found = [Estimate(34.15, -9.5, 77.8), Estimate(34.09, 0.0, 68.2)]
    together = over_seeds(found, ">= 20 points")
    own = np.hypot(43.65, 34.09) / 2
    assert together.value == pytest.approx(34.12) and together.low == pytest.approx(34.12 - own)
    assert verdict(together, ">= 20 points") == "undecided"
