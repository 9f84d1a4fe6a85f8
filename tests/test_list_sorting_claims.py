"""Claims of list sorting: every statistic on made tables, and how often its intervals are right."""

import numpy as np
import pandas as pd
import pytest
from conftest import ROOT
from list_sorting_claims import LAST, SEEDS, evidence, exact_zero_bound, models, statistic
from mentions import mentions, raises
from scipy import stats

from heuristic_core.config.claims import load_claims
from heuristic_core.experiments import list_sorting
from heuristic_core.experiments.list_sorting.claims import judge_claims
from heuristic_core.stats.estimates import STATISTICS, DoesNotApply, NotComputable
from heuristic_core.stats.means import bound_mean, mean_interval
from heuristic_core.stats.training_seeds import HIGHEST, LOWEST, PERCENT, extreme_mean, mean_over_seeds
from heuristic_core.tables.schemas import SCHEMAS

CLAIMS = ROOT / "src" / "heuristic_core" / "experiments" / "list_sorting" / "claims.yaml"


def test_the_claims_name_statistics_and_tables_that_exist():
    stated = load_claims(CLAIMS)
    known_statistics = {
        name for name, function in STATISTICS.items() if function.__module__.startswith(list_sorting.__name__)
    }
    assert {entry.statistic for claim in stated for entry in claim.statistics} == known_statistics
    assert {name for claim in stated for name in claim.tables} <= set(SCHEMAS)


def test_a_measure_at_the_end_is_of_the_condition_that_decides():
    study_evidence = evidence(models=models("splitting", l2=(0.9, 0.92, 0.97), bare=(0.99, 0.98, 1.0)))
    lowest = statistic("at_end", study_evidence, measure="splitting", which="lowest")
    mean, low, _ = mean_interval([90, 92, 97])
    assert (lowest.value, lowest.low, lowest.n) == (pytest.approx(mean), pytest.approx(low), 3)
    assert lowest.high == 100 and mentions(lowest.detail, "splitting", "l2", 93, "bare", 99)
    without = statistic("at_end", study_evidence, measure="splitting", which="lowest", decay="without")
    assert (without.value, without.low) == (pytest.approx(99), pytest.approx(mean_interval([98, 99, 100])[1]))
    with raises(NotComputable, "sorting_heads"):
        statistic("at_end", study_evidence, measure="suppression", which="highest")


def test_conditions_that_do_not_sort_count_by_their_accuracy_alone():
    """One model of condition small gets 90 % right."""
    rows = models("token_accuracy", l2=(0.99, 0.98, 0.99), small=(0.99, 0.99, 0.9))
    for row, share in zip(rows, [0.2] * 6 + [0.9] * 6, strict=True):
        row["splitting"] = share
    study_evidence = evidence(["l2", "small"], models=rows)
    lowest = statistic("lowest_accuracy", study_evidence)
    assert lowest.value == pytest.approx(90) and lowest.exact and (lowest.n, lowest.unit) == (6, "models")
    result = statistic("at_end", study_evidence, measure="splitting", which="highest")
    assert result.value == pytest.approx(20) and mentions(result.detail, "splitting", "l2", 20, 95, "small", 90)
    with raises(NotComputable, 95, "small", 90):
        statistic("at_end", study_evidence, measure="splitting", which="highest", decay="without")
    with pytest.raises(DoesNotApply):
        evidence(["l2"], models=models("token_accuracy", l2=(0.95, 0.99, 0.99))).conditions()


def test_of_heads_the_one_that_suppresses_most_counts():
    rows = [
        {"condition": "l2", "seed": seed, "step": LAST, "head": head, "suppression": share + seed / 100}
        for seed in SEEDS
        for head, share in enumerate((0.1, 0.4))
    ]
    result = statistic("at_end", evidence(heads=rows), measure="suppression", which="highest")
    assert result.value == pytest.approx(42)


def test_what_a_study_lacks_is_said():
    nothing = models("splitting", l2=(None, None, None))  # one head
    with raises(NotComputable, "splitting"):
        statistic("at_end", evidence(models=nothing), measure="splitting", which="highest", decay="with")
    with pytest.raises(NotComputable):
        evidence(["l2", "small"]).conditions("without")
    with pytest.raises(NotComputable):
        study_evidence = evidence(models=models("splitting", bare=(0.1, 0.2, 0.3), small=(0.1, 0.2, 0.3)))
        statistic("without_less_with_decay", study_evidence, measure="splitting")


def test_the_nearer_mode_counts():
    heads = [row | {"head": 0} for row in models("suppression", l2=(0.1, 0.1, 0.1), bare=(0.5, 0.5, 0.5))]
    study_evidence = evidence(models=models("splitting", l2=(0.6, 0.9, 0.9), bare=(0, 0, 0)), heads=heads)
    result = statistic("nearest_mode", study_evidence, splitting=75, suppression=20)
    assert result.value == pytest.approx((0.8 + 1.2 + 1.2) / 3) and mentions(result.detail, "l2")


def test_weight_decay_is_compared_seed_by_seed():
    study_evidence = evidence(models=models("splitting", l2=(0.5, 0.7, 0.9), bare=(0.4, 0.7, 0.6), small=(0, 0, 0)))
    result = statistic("without_less_with_decay", study_evidence, measure="splitting")
    ends = [bound_mean(np.array([-10.0, 0, -30]), quantile, (-100, 100)) for quantile in (0.025, 0.975)]
    assert (result.value, result.low, result.high) == tuple(map(pytest.approx, (-40 / 3, *ends)))
    assert mentions(result.detail, "bare", "l2") and not mentions(result.detail, "small")


def test_of_pairs_that_differ_in_weight_decay_the_lowest_counts():
    values = models("splitting", l2=(0.5, 0.7, 0.9), bare=(0.4, 0.7, 0.6), decoupled=(0.1, 0.2, 0.4))
    result = statistic("without_less_with_decay", evidence(models=values), measure="splitting")
    assert mentions(result.detail, "bare", "l2", "decoupled")
    assert result.value == pytest.approx(-40 / 3) and result.low == pytest.approx(-100)


def test_a_trend_is_over_doublings_of_the_gap():
    rows = models("splitting", small=(0.1, 0.2, 0.1), l2=(0.3, 0.4, 0.2), large=(0.5, 0.6, 0.4), bare=(1.0, 1.0, 1.0))
    pooled = {"measure": "splitting", "alike": "but_data", "least": 3}
    result = statistic("gap_trend", evidence(models=rows), **pooled)
    slopes = [20, 20, 15]
    assert result.value == pytest.approx(stats.ttest_1samp(slopes, 0).pvalue) and result.opposite is None
    assert mentions(result.detail, "+18.3", "l2", "small", "large") and not mentions(result.detail, "bare")
    two = evidence(["l2", "bare", "small"], models=rows)
    with raises(NotComputable, 2, "but_data", 3):
        statistic("gap_trend", two, **pooled)


def test_the_gap_alone_is_told_from_numbers():
    """near has the gap of small and the numbers of l2: between these two splitting does not follow the gap."""
    rows = models("splitting", small=(0.1, 0.2, 0.1), l2=(0.3, 0.4, 0.2), near=(0.3, 0.5, 0.1))
    alone = {"measure": "splitting", "alike": "but_gap", "least": 2}
    result = statistic("gap_trend", evidence(["small", "l2", "near"], models=rows), **alone)
    assert result.value == pytest.approx(stats.ttest_1samp([0, -10, 10], 0).pvalue)
    assert mentions(result.detail, "l2", "near") and not mentions(result.detail, "small")
    with raises(NotComputable, 1, "but_gap"):
        statistic("gap_trend", evidence(["small", "l2"], models=rows), **alone)


def ablations(measure, kind="mean", **by_condition):
    """by_condition: for each seed, the whole model's value and that without head 0, head 1 and both."""
    return [
        {"condition": condition, "seed": seed, "step": LAST, "kind": "none" if ablated == "" else kind}
        | {"ablated": ablated, measure: value}
        for condition, of_seeds in by_condition.items()
        for seed, values in zip(SEEDS, of_seeds, strict=True)
        for ablated, value in zip(("", "0", "1", "0+1"), values, strict=True)
    ]


def mode_rows(losses):
    """What each mode of a head is worth: suppression what the head's ablation costs, copying far more."""
    rows = [row for row in losses if row["ablated"]]
    return [row | {"mode": "suppression"} for row in rows] + [row | {"mode": "copying", "loss": 99.0} for row in rows]


def head_rows(condition, copying, suppression):
    return [
        {"condition": condition, "seed": seed, "step": LAST, "head": head}
        | {"copying": copying[head], "suppression": suppression[head]}
        for seed in SEEDS
        for head in (0, 1)
    ]


SUPPRESSING = {"suppression": 20, "which": "lowest"}


def test_the_suppression_of_the_head_that_suppresses_most_is_ablated():
    losses = ablations("loss", l2=[(1.0, 9.0, 1.0 + seed, 9.0) for seed in SEEDS], bare=[(0.0, 5.0, 5.0, 5.0)] * 3)
    heads = head_rows("l2", (0.1, 0.9), (0.3, 0.4)) + head_rows("bare", (0.9, 0.9), (0.1, 0.1))
    study_evidence = evidence(ablations=losses, mode_ablations=mode_rows(losses), heads=heads)
    result = statistic("without_suppression", study_evidence, measure="loss", kind="mean", **SUPPRESSING)
    assert (result.value, result.low, result.high) == tuple(map(pytest.approx, mean_interval(SEEDS)))
    assert mentions(result.detail, "l2", 2)  # head 1 copies more than it suppresses
    assert not mentions(result.detail, "bare")  # no head of it suppresses
    with raises(NotComputable, "zero"):
        statistic("without_suppression", study_evidence, measure="loss", kind="zero", **SUPPRESSING)


def test_only_conditions_all_of_whose_heads_suppress_are_averaged():
    """In condition bare a head suppresses in two seeds of three, where its loss rises by 9; in small it does in all."""
    losses = ablations("loss", l2=[(1.0, 9.0, 2.0 + seed, 9.0) for seed in SEEDS], bare=[(0.0, 9.0, 9.0, 9.0)] * 3)
    losses += ablations("loss", small=[(1.0, 9.0, 1.5, 9.0), (1.0, 9.0, 2.5, 9.0), (1.0, 9.0, 2.0, 9.0)])
    heads = [row for name in ("l2", "bare", "small") for row in head_rows(name, (0.9, 0.1), (0.1, 0.4))]
    heads = [row for row in heads if (row["condition"], row["seed"], row["head"]) != ("bare", 3, 1)]
    study_evidence = evidence(ablations=losses, mode_ablations=mode_rows(losses), heads=heads)
    result = statistic("without_suppression", study_evidence, measure="loss", kind="mean", **SUPPRESSING)
    assert (result.value, result.low) == tuple(map(pytest.approx, mean_interval([0.5, 1.5, 1.0])[:2]))
    assert mentions(result.detail, "l2", 3, "small", 1) and not mentions(result.detail, "bare")


def test_a_head_costs_its_own_numbers():
    """Head 0 copies 0 to 5, head 1 copies 4 to 9 of ten numbers: each copies 40 % alone, and costs that, nearly."""
    numbers = [
        {"condition": "l2", "seed": seed, "step": LAST, "head": head, "number": k, "copies": first <= k <= first + 5}
        for seed in SEEDS
        for head, first in ((0, 0), (1, 4))
        for k in range(10)
    ]
    accuracy = ablations("token_accuracy", l2=[(1.0, 0.6 - seed / 100, 0.6 + 3 * seed / 100, 0.0) for seed in SEEDS])
    study_evidence = evidence(
        numbers=numbers, ablations=accuracy, models=models("splitting", l2=(0.8, 0.8, 0.8), bare=(0.7, 0.7, 0.7))
    )
    result = statistic("cost_beyond_range", study_evidence, kind="mean", splitting=75)
    assert (result.value, result.low) == tuple(map(pytest.approx, mean_interval([2, 4, 6])[:2]))
    with raises(NotComputable, 90):
        statistic("cost_beyond_range", study_evidence, kind="mean", splitting=90)


def test_a_head_that_does_nothing_has_no_range():
    """Its soft overlap with the head that does all is 0."""
    overlaps = models("soft_overlap", l2=(0.0, 0.01, 0.02), bare=(0.05, 0.05, 0.06))
    losses = ablations("loss", l2=[(0.1, 2.0, 2.1, 3.0)] * 3, bare=[(0.1, 2.0, 2.1, 3.0)] * 3)
    works = [row | {"entropy": row["loss"] / 2} for row in losses]
    result = statistic("overlap_at_end", evidence(models=overlaps, ablations=works))
    assert result.value == pytest.approx(16 / 3) and mentions(result.detail, "bare")
    dead = [row | ({"loss": 0.1003, "entropy": 0.0497} if row["ablated"] == "1" else {}) for row in works]
    dead = [
        row if row["condition"] == "bare" and row["seed"] == 3 else live for row, live in zip(dead, works, strict=True)
    ]
    with raises(DoesNotApply, "bare", "head 1", "seed 3", "loss", "entropy"):
        statistic("overlap_at_end", evidence(models=overlaps, ablations=dead))
    calibrates = [row | ({"entropy": 0.09} if row["ablated"] == "1" else {}) for row in dead]
    assert statistic("overlap_at_end", evidence(models=overlaps, ablations=calibrates)).value == result.value
    with pytest.raises(NotComputable):
        rows = [row | {"kind": "zero"} for row in works if row["ablated"]]
        statistic("overlap_at_end", evidence(models=overlaps, ablations=rows))


def test_seeds_that_agree_have_an_interval_only_at_an_end():
    agree, at_end = mean_over_seeds([40, 40], "", PERCENT), mean_over_seeds([100, 100], "", PERCENT)
    assert (agree.value, agree.low, agree.high) == (40, None, None)
    assert (at_end.low, at_end.high) == (pytest.approx(100 - exact_zero_bound(2)), 100)
    groups = {"a": [0, 0, 0], "b": [0.5, 1.5, 1.0]}
    highest = extreme_mean(groups, HIGHEST, "", PERCENT)
    assert highest.high == pytest.approx(exact_zero_bound(3)) and highest.low == 0
    assert mean_over_seeds([40], "").low is None
    with raises(NotComputable, "losses"):
        mean_over_seeds([np.nan], "losses")


@pytest.mark.parametrize("order", [("vary", "agree"), ("agree", "vary")])
@pytest.mark.parametrize("level", [1, 9])
def test_the_lowest_mean_has_no_interval_if_the_seeds_of_a_group_agree(order, level):
    values = {"vary": [4.0, 5.0, 6.0], "agree": [level] * 3}
    lowest = extreme_mean({name: values[name] for name in order}, LOWEST, "")
    assert (lowest.value, lowest.low, lowest.high) == (min(5, level), None, None)


@pytest.mark.parametrize("which", [LOWEST, HIGHEST])
@pytest.mark.parametrize("spread", [0.0, 3.0])
def test_intervals_of_the_condition_that_decides_cover_in_95_of_100(which, spread):
    """Four conditions whose means are the same (the hardest case) or apart; 3 seeds each."""
    means = spread * np.arange(4.0)
    truth = means.min() if which == LOWEST else means.max()
    draws = np.random.default_rng(0).normal(means[:, None], 1.0, (1000, 4, 3))
    result = [extreme_mean(dict(enumerate(draw)), which, "") for draw in draws]
    assert np.mean([item.low <= truth <= item.high for item in result]) > 0.94


def test_a_study_has_a_verdict_for_every_claim():
    sorted_ = models("token_accuracy", l2=(0.99, 0.98, 0.99), bare=(0.99, 0.98, 0.99))
    rows = judge_claims("s", evidence(["l2", "bare"], models=sorted_).tables, load_claims(CLAIMS))
    assert list(rows["claim"]) == [claim.claim for claim in load_claims(CLAIMS)] and rows["ft_seed"].isna().all()
    verdicts = rows.set_index("claim")["verdict"]
    assert verdicts["sorts"] == "supported" and set(verdicts.drop("sorts")) == {"not run"}
    assert pd.isna(rows.set_index("claim").loc["sorts", "low"])
    fails = models("token_accuracy", l2=(0.5, 0.52, 0.51))
    rows = judge_claims("s", evidence(["l2"], models=fails).tables, load_claims(CLAIMS))
    verdicts = rows.set_index("claim")["verdict"]
    assert verdicts["sorts"] == "contradicted" and verdicts["splits-with-decay"] == "does not apply"
    assert set(verdicts) == {"contradicted", "does not apply", "not run"}
    assert (rows["model"] == "one-layer transformer").all() and pd.unique(rows["study"]) == ["s"]
