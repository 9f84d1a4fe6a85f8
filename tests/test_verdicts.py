"""The rule of verdicts: one fine-tuning seed, several, and how often the rule errs; every draw has its seed."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from heuristic_core.experiments.subnetworks.analysis.core import count_common_heads
from heuristic_core.stats import verdicts
from heuristic_core.stats.estimates import DoesNotApply, Estimate, FailedRuns, NotComputable, TooFewUnits
from heuristic_core.stats.seeds import FINE_TUNING_SEEDS
from heuristic_core.stats.verdicts import VERDICTS, adjust_holm, compute_p_value, decide_verdict

LEVEL = "p < 0.05"
over_seeds = partial(verdicts.combine_seeds, unit=FINE_TUNING_SEEDS)


def make_test_estimate(p, opposite=None, attainable=0.0):
    return Estimate.test(p, opposite, 1, "heads", "", attainable)


@pytest.mark.parametrize(
    ("estimate", "threshold", "expected"),
    [
        (Estimate(5, 4, 6), "> 3", "supported"),
        (Estimate(5, 2, 8), "> 3", "not clear"),
        (Estimate(1, 0, 2), "> 3", "contradicted"),
        (Estimate(5), "> 3", "too few"),  # no interval: a value alone decides nothing
        (Estimate(5, np.nan, np.nan), "> 3", "too few"),
        (Estimate(0.0, 0.0, 0.0), "< 3", "too few"),  # identical values may be so by chance
        (Estimate(np.nan, exact=True), "> 3", "too few"),
        (Estimate(2, exact=True), "< 3", "supported"),
        (Estimate(3, exact=True), "< 3", "contradicted"),
        (make_test_estimate(0.01, 0.995), LEVEL, "supported"),
        (make_test_estimate(0.03, 0.98), LEVEL, "not clear"),  # one level for both tails: p is 0.06
        (make_test_estimate(0.97, 0.03), LEVEL, "not clear"),
        (make_test_estimate(0.99, 0.02), LEVEL, "contradicted"),
        (make_test_estimate(0.01), LEVEL, "supported"),
        (make_test_estimate(1.0), LEVEL, "not clear"),  # there is no other tail
        (make_test_estimate(0.01, 0.01), LEVEL, "not clear"),
        (make_test_estimate(np.nan, np.nan), LEVEL, "too few"),
        (make_test_estimate(1 / 8, 1.0, attainable=1 / 8), LEVEL, "too few"),
        (make_test_estimate(0.5, 0.6, attainable=1 / 8), LEVEL, "too few"),
        (make_test_estimate(0.5, 0.6, attainable=0.001), LEVEL, "not clear"),
    ],
)
def test_verdicts(estimate, threshold, expected):
    assert decide_verdict(estimate, threshold) == expected


def test_every_verdict_has_a_meaning():
    assert len(VERDICTS) == 7 and all(VERDICTS[k] != VERDICTS[k - 1] for k in range(7))
    raised = {kind.verdict for kind in (NotComputable, TooFewUnits, FailedRuns, DoesNotApply)}
    assert raised == {"not run", "too few", "failed runs", "does not apply"} and raised < set(VERDICTS)


def test_an_interval_stays_within_what_is_possible():
    cut = Estimate(95.0, 80.0, 116.0, minimum=0, maximum=100)
    assert (cut.low, cut.high) == (80, 100)
    together = over_seeds([Estimate(90.0, 80.0, 100.0, maximum=100), Estimate(60.0, 50.0, 70.0, maximum=100)], "> 20")
    assert together.high == 100 and together.low < 0


# ---- p


def test_p_is_two_sided():
    assert compute_p_value(make_test_estimate(0.01, 0.995), LEVEL) == 0.02
    assert compute_p_value(make_test_estimate(0.9, 0.2), LEVEL) == 0.4
    assert compute_p_value(make_test_estimate(0.01), LEVEL) == 0.01
    assert compute_p_value(make_test_estimate(0.7, 0.6), LEVEL) == 1
    assert compute_p_value(Estimate(5), "> 3") is None and compute_p_value(Estimate(5, exact=True), "> 3") is None


@pytest.mark.parametrize("threshold", ["> 3", "< 3", ">= 3 points"])
def test_p_of_an_interval_agrees_with_the_verdict(threshold):
    rng = np.random.default_rng(0)
    for value, below, above in rng.uniform(0.1, 6, (200, 3)):
        result = Estimate(value, value - below, value + above, n=int(10 * value))
        assert (compute_p_value(result, threshold) < 0.05) == (decide_verdict(result, threshold) != "not clear")
    assert compute_p_value(Estimate(3 + 1.96, 3.0, 6.0), "> 3") == pytest.approx(0.05, abs=1e-4)
    two = np.array([4.0, 5.0])  # seeds
    half = stats.t.ppf(0.975, 1) * two.std(ddof=1) / np.sqrt(2)
    result = Estimate(4.5, 4.5 - half, 4.5 + half, n=2)
    assert compute_p_value(result, "> 0") == pytest.approx(stats.ttest_1samp(two, 0).pvalue)


def test_holm():
    assert adjust_holm([0.01, None, 0.04, 0.03]) == pytest.approx([0.03, None, 0.06, 0.06])
    assert adjust_holm([None]) == [None] and adjust_holm([0.5, 0.9]) == [1, 1]


# ---- tests


def test_none_where_hardly_any_is_expected_decides_nothing():
    """By "p above one half" a p of 1 spoke against: 0 heads in common, 0.1 expected."""
    layer = pd.Series([0] * 10)
    result = count_common_heads(layer, layer.index == pd.Series([3] * 10), layer.index == pd.Series([5] * 10))
    assert (result.observed, result.expected, result.p) == (0, pytest.approx(0.1), 1)
    assert decide_verdict(make_test_estimate(result.p, result.p_fewer), LEVEL) == "not clear"


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [1, 3, 10])
def test_tests_of_nothing_decide_in_one_of_twenty(seeds):
    """Of heads drawn at random, both tails together."""
    rng = np.random.default_rng(seeds)
    table = {k: [stats.hypergeom.sf(k - 1, 24, 12, 8), stats.hypergeom.cdf(k, 24, 12, 8)] for k in range(9)}
    studies = [[make_test_estimate(*table[k]) for k in study] for study in rng.hypergeometric(12, 12, 8, (2000, seeds))]
    judged = [decide_verdict(over_seeds(study, LEVEL) if seeds > 1 else study[0], LEVEL) for study in studies]
    assert judged.count("supported") + judged.count("contradicted") <= 0.055 * len(studies)


# ---- several fine-tuning seeds


def supported(seeds, effect, between=0.0, studies=1000):
    """How often studies support "> 0" where a seed's estimate is normal, its own standard error 1."""
    rng = np.random.default_rng([seeds, int(10 * effect)])
    values = rng.normal(effect, np.hypot(1, between), (studies, seeds))
    estimates = [[Estimate(value, value - 1.96, value + 1.96) for value in study] for study in values]
    judged = [decide_verdict(over_seeds(study, "> 0") if seeds > 1 else study[0], "> 0") for study in estimates]
    return judged.count("supported") / studies


@pytest.mark.slow
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


@pytest.mark.parametrize("seeds", [2, 5, 10])
def test_seeds_that_share_evaluation_pairs_share_their_errors(seeds):
    """As independent errors they would leave ten seeds with an interval that holds the truth in half of studies."""
    rng, held = np.random.default_rng(seeds), []
    for shared in rng.normal(0, 1, 1000):
        values = shared + rng.normal(0, 0.5, seeds)
        result = [Estimate.over_pairs(value, value - 1.96, value + 1.96, 100, "pairs", "") for value in values]
        together = over_seeds(result, "> 0")
        held.append(together.low <= 0 <= together.high)
    assert np.mean(held) > 0.9


def test_what_seeds_share_is_not_divided_by_their_number():
    """Of 5 points to either side 4 are of the pairs that all four seeds share; of pruning seeds all 5 are shared."""
    between = stats.t.ppf(0.975, 3) * np.std([9, 10, 10, 11], ddof=1) / 2
    for unit, shared, apart in (("runs", 4, 3), ("pruning seeds", 5, 0)):
        result = [Estimate(v, v - 5, v + 5, 12, unit, shared_half_widths=(4.0, 4.0)) for v in (9, 10, 10, 11)]
        together = over_seeds(result, "> 0")
        half = np.hypot(max(between, np.sqrt(4 * apart**2) / 4), shared)
        assert (together.low, together.high) == pytest.approx((10 - half, 10 + half))


def test_tests_of_several_seeds_are_combined():
    whole = over_seeds(
        [make_test_estimate(0.01, 0.995), make_test_estimate(0.02, 0.99), make_test_estimate(0.006, 0.996)], LEVEL
    )
    assert whole.value == pytest.approx(0.024) and compute_p_value(whole, LEVEL) == pytest.approx(0.048)
    assert (decide_verdict(whole, LEVEL), whole.n, whole.low) == ("supported", 3, None)
    apart = over_seeds([make_test_estimate(1e-6, 1.0), make_test_estimate(1.0, 1e-6)], LEVEL)
    assert decide_verdict(apart, LEVEL) == "not clear"
    assert over_seeds([make_test_estimate(0.5), make_test_estimate(0.5)], LEVEL).opposite is None
    few = over_seeds([make_test_estimate(1 / 8, 1.0, attainable=1 / 8), make_test_estimate(0.001, 1.0)], LEVEL)
    assert decide_verdict(few, LEVEL) == "too few"


@pytest.mark.parametrize("seeds", [2, 5, 10])
@pytest.mark.parametrize("shared", [0.0, 0.5, 1.0])
def test_combined_tests_of_nothing_decide_in_one_of_twenty(seeds, shared):
    """Fine-tunings of one checkpoint share what it has: by Stouffer's method ten decided half of such studies."""
    rng = np.random.default_rng(0)
    common, separate = rng.normal(size=(4000, 1)), rng.normal(size=(4000, seeds))
    p = stats.norm.sf(np.sqrt(shared) * common + np.sqrt(1 - shared) * separate)
    judged = [
        decide_verdict(over_seeds([make_test_estimate(item, 1 - item) for item in row], LEVEL), LEVEL) for row in p
    ]
    assert (judged.count("supported") + judged.count("contradicted")) / 4000 <= 0.06
    there = [
        over_seeds([make_test_estimate(item, 1 - item) for item in row], LEVEL)
        for row in stats.norm.sf(stats.norm.isf(p) + 4)
    ]
    assert [decide_verdict(item, LEVEL) for item in there].count("supported") / 4000 > 0.8


def test_seeds_at_one_value_have_their_own_intervals():
    """A t interval would have no width, as if two seeds at a floor were certain."""
    floor = over_seeds([Estimate(0.0, 0.0, 3.0), Estimate(0.0, 0.0, 6.0)], "< 5")
    assert (floor.value, floor.low, floor.high, decide_verdict(floor, "< 5")) == (0, 0, 6, "not clear")
    counts = over_seeds([Estimate(0, exact=True)] * 3, "< 1")
    assert (counts.exact, decide_verdict(counts, "< 1")) == (True, "supported")
    unknown = over_seeds([Estimate(1.0), Estimate(1.0, 0.0, 2.0)], "< 5")
    assert decide_verdict(unknown, "< 5") == "too few"


def test_two_seeds_that_agree_by_chance_are_not_more_certain_than_each_of_them():
    result = [Estimate(34.15, -9.5, 77.8), Estimate(34.09, 0.0, 68.2)]
    together = over_seeds(result, ">= 20 points")
    half_width = np.hypot(43.65, 34.09) / 2
    assert together.value == pytest.approx(34.12) and together.low == pytest.approx(34.12 - half_width)
    assert decide_verdict(together, ">= 20 points") == "not clear"
