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
from heuristic_core.stats.estimates import STATISTICS, DoesNotApply, NotComputable, TooFewUnits
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
    with raises(NotComputable, "suppression"):
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
    splitting = models("splitting", l2=(0.6, 0.9, 0.9), bare=(0, 0, 0))
    suppression = models("suppression", l2=(0.1, 0.1, 0.1), bare=(0.5, 0.5, 0.5))
    study_evidence = evidence(models=[a | b for a, b in zip(splitting, suppression, strict=True)])
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


def test_a_slope_is_over_doublings_of_the_gap_where_the_numbers_are_the_same():
    """Twice the numbers, and so twice the gap, is 20 points; near has half the gap of l2 and its numbers."""
    by_seed = (0.3, 0.4, 0.2)
    rows = models(
        "splitting",
        small=[value - 0.2 for value in by_seed],
        l2=by_seed,
        large=[value + 0.2 for value in by_seed],
        near=[value - slope for value, slope in zip(by_seed, (0.1, 0.15, 0.05), strict=True)],
        bare=(1.0, 1.0, 1.0),
    )
    result = statistic("gap_slope", evidence(models=rows), measure="splitting")
    assert result.value == pytest.approx(stats.ttest_1samp([10, 15, 5], 0).pvalue) and result.opposite is None
    low, high = stats.ttest_1samp([10, 15, 5], 0).confidence_interval()
    assert mentions(result.detail, "+10.0", f"{low:z.1f}", f"{high:z.1f}", "l2", "small", "large", "near")
    assert not mentions(result.detail, "bare")


def test_a_gap_that_changes_with_the_numbers_alone_is_not_told_from_them():
    rows = models("splitting", small=(0.1, 0.2, 0.1), l2=(0.3, 0.4, 0.2), large=(0.5, 0.6, 0.4))
    with raises(NotComputable, "mean gap", "numbers", 3):
        statistic("gap_slope", evidence(["small", "l2", "large"], models=rows), measure="splitting")
    with raises(NotComputable, "mean gap"):
        statistic("gap_slope", evidence(["l2"], models=rows), measure="splitting")
    few = models("splitting", small=(0.1, None, None), l2=(0.3, 0.4, 0.2), large=(0.5, 0.6, 0.4), near=(0.2, 0.3, 0.1))
    with pytest.raises(TooFewUnits):
        statistic("gap_slope", evidence(["small", "l2", "large", "near"], models=few), measure="splitting")


def ablations(measure, kind="mean", **by_condition):
    """by_condition: for each seed, the whole model's value and that without head 0, head 1 and both."""
    return [
        {"condition": condition, "seed": seed, "step": LAST, "kind": "none" if ablated == "" else kind}
        | {"ablated": ablated, measure: value}
        for condition, of_seeds in by_condition.items()
        for seed, values in zip(SEEDS, of_seeds, strict=True)
        for ablated, value in zip(("", "0", "1", "0+1"), values, strict=True)
    ]


def with_loss(measure, **by_condition):
    """Rows of models with a measure, and a loss."""
    return [row | {"loss": 1.0} for row in models(measure, **by_condition)]


def mode_rows(losses):
    """What each mode of a head is worth: suppression what the head's ablation costs, copying far more."""
    rows = [row for row in losses if row["ablated"]]
    return [row | {"mode": "suppression"} for row in rows] + [row | {"mode": "copying", "loss": 99.0} for row in rows]


def head_rows(condition, *suppression):
    return [
        {"condition": condition, "seed": seed, "step": LAST, "head": head, "suppression": logits}
        for seed in SEEDS
        for head, logits in enumerate(suppression)
    ]


SUPPRESSING = {"suppression": 20, "which": "lowest"}


def test_the_suppression_of_the_head_that_suppresses_most_is_ablated():
    losses = ablations("loss", l2=[(1.0, 9.0, 1.0 + seed, 9.0) for seed in SEEDS], bare=[(0.0, 5.0, 5.0, 5.0)] * 3)
    heads, shares = head_rows("l2", 0.3, 0.4) + head_rows("bare", 0.6, 0.5), {"l2": [0.4] * 3, "bare": [0.1] * 3}
    study_evidence = evidence(
        ablations=losses, mode_ablations=mode_rows(losses), heads=heads, models=with_loss("suppression", **shares)
    )
    result = statistic("without_suppression", study_evidence, measure="loss", kind="mean", **SUPPRESSING)
    assert (result.value, result.low, result.high) == tuple(map(pytest.approx, mean_interval(SEEDS)))
    assert mentions(result.detail, "l2", 2) and not mentions(result.detail, "bare")
    with raises(NotComputable, "zero"):
        statistic("without_suppression", study_evidence, measure="loss", kind="zero", **SUPPRESSING)


def test_only_conditions_that_suppress_on_average_are_compared():
    """Of bare, where loss rises by 9, one model has no value; near suppresses less than the limit on average."""
    losses = ablations("loss", l2=[(1.0, 9.0, 2.0 + seed, 9.0) for seed in SEEDS], bare=[(0.0, 9.0, 9.0, 9.0)] * 3)
    losses += ablations("loss", small=[(1.0, 9.0, 1.5, 9.0), (1.0, 9.0, 2.5, 9.0), (1.0, 9.0, 2.0, 9.0)])
    losses += ablations("loss", near=[(1.0, 1.0, 1.0, 1.0)] * 3)
    heads = [row for name in ("l2", "bare", "small", "near") for row in head_rows(name, 0.1, 0.4)]
    shares = with_loss(
        "suppression", l2=(0.4, 0.4, 0.4), bare=(0.4, 0.4, None), small=(0.1, 0.4, 0.5), near=(0.0, 0.1, 0.4)
    )
    study_evidence = evidence(ablations=losses, mode_ablations=mode_rows(losses), heads=heads, models=shares)
    result = statistic("without_suppression", study_evidence, measure="loss", kind="mean", **SUPPRESSING)
    assert (result.value, result.low) == tuple(map(pytest.approx, mean_interval([0.5, 1.5, 1.0])[:2]))
    assert mentions(result.detail, "l2", 3, "small", 1)
    assert not mentions(result.detail, "bare") and not mentions(result.detail, "near")


def test_a_head_costs_its_share_of_copying():
    """Of ten numbers head 0 copies six and head 1 the others, but one by halves, and one not at all."""
    effects = ([4.0] * 5 + [2.0] + [-1.0] * 3 + [0.0], [0.0] * 5 + [2.0] + [3.0] * 3 + [-1.0])
    numbers = [
        {"condition": "l2", "seed": seed, "step": LAST, "head": head, "number": k, "effect": effect}
        for seed in SEEDS
        for head, values in enumerate(effects)
        for k, effect in enumerate(values)
    ]
    shares = [100 * 5.5 / 9, 100 * 3.5 / 9]
    ablated = [(1.0, 1 - shares[0] / 100 - seed / 100, 1 - shares[1] / 100 + 3 * seed / 100, 0.0) for seed in SEEDS]
    study_evidence = evidence(
        numbers=numbers,
        ablations=ablations("token_accuracy", l2=ablated),
        models=with_loss("splitting", l2=(0.8, 0.7, 0.8), bare=(0.8, 0.6, 0.8)),
    )
    result = statistic("cost_beyond_share", study_evidence, kind="mean", splitting=75)
    assert (result.value, result.low) == tuple(map(pytest.approx, mean_interval([2, 4, 6], PERCENT)[:2]))
    with raises(NotComputable, 90):
        statistic("cost_beyond_share", study_evidence, kind="mean", splitting=90)


def test_a_head_that_does_nothing_has_no_range():
    """Its overlap with the head that does all is 0."""
    overlaps = models("overlap", l2=(0.0, 0.01, 0.02), bare=(0.05, 0.05, 0.06))
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
