"""Claims of list sorting: every statistic on made tables, and how often its intervals are right."""

import numpy as np
import pandas as pd
import pytest
from conftest import ROOT
from scipy import stats

from heuristic_core.analysis.estimates import STATISTICS, CannotSay
from heuristic_core.analysis.seeds import mean_interval
from heuristic_core.config.claims import load_claims
from heuristic_core.experiments import list_sorting
from heuristic_core.experiments.list_sorting.claims import claims
from heuristic_core.experiments.list_sorting.evidence import Evidence
from heuristic_core.experiments.list_sorting.intervals import HIGHEST, LOWEST, extreme, over_seeds
from heuristic_core.tables.parquet import as_frame, as_table
from heuristic_core.tables.schemas import SCHEMAS, schema

CLAIMS = ROOT / "src" / "heuristic_core" / "experiments" / "list_sorting" / "claims.yaml"
SEEDS, LAST = (1, 2, 3), 100
CONDITIONS = {  # all but numbers and weight decay alike
    "l2": {},
    "bare": {"optimiser": "adam", "weight_decay": 0.0},
    "small": {"numbers": 5, "mean_gap": 2.0},
    "large": {"numbers": 23, "mean_gap": 8.0},
}
LIKE = {"numbers": 11, "length": 2, "mean_gap": 4.0, "heads": 2, "layer_norm": True, "biases": True, "steps": LAST}
LIKE |= {"optimiser": "adam-l2", "weight_decay": 0.005}


def table(name, rows):
    empty = dict.fromkeys(schema(f"sorting_{name}").names) | {"study": "s"}
    return as_frame(as_table(f"sorting_{name}", [empty | row for row in rows]))


def evidence(names=tuple(CONDITIONS), **tables):
    rows = [{"condition": name} | LIKE | CONDITIONS[name] for name in names]
    tables = {"conditions": rows} | tables
    return Evidence({f"sorting_{name}": table(name, rows) for name, rows in tables.items()})


def models(measure, **by_condition):
    """Values of each seed at the last step, after a step at which all are 0.5; None: not measured."""
    return [
        {"condition": condition, "seed": seed, "step": step, measure: value if step == LAST else 0.5}
        for condition, values in by_condition.items()
        for seed, value in zip(SEEDS, values, strict=True)
        for step in (10, LAST)
    ]


def statistic(name, given, **options):
    return STATISTICS[name](given, **options)


def test_the_claims_name_statistics_and_tables_that_exist():
    stated = load_claims(CLAIMS)
    own = {name for name, one in STATISTICS.items() if one.__module__.startswith(list_sorting.__name__)}
    assert {one.statistic for claim in stated for one in claim.statistics} == own
    assert {name for claim in stated for name in claim.tables} <= set(SCHEMAS)


def test_a_measure_at_the_end_is_of_the_condition_that_decides():
    given = evidence(models=models("token_accuracy", l2=(0.9, 0.92, 0.97), bare=(0.99, 0.98, 1.0)))
    lowest = statistic("at_end", given, measure="token_accuracy", which="lowest")
    mean, low, _ = mean_interval([90, 92, 97])
    assert (lowest.value, lowest.low, lowest.n) == (pytest.approx(mean), pytest.approx(low), 3)
    assert lowest.high == 100 and lowest.detail == "lowest: l2; token accuracy: l2 93, bare 99"
    without = statistic("at_end", given, measure="token_accuracy", which="lowest", decay="without")
    assert (without.value, without.low) == (pytest.approx(99), pytest.approx(mean_interval([98, 99, 100])[1]))
    with pytest.raises(CannotSay, match="no table sorting_heads"):
        statistic("at_end", given, measure="suppression", which="highest")


def test_of_heads_the_one_that_suppresses_most_counts():
    rows = [
        {"condition": "l2", "seed": seed, "step": LAST, "head": head, "suppression": share + seed / 100}
        for seed in SEEDS
        for head, share in enumerate((0.1, 0.4))
    ]
    found = statistic("at_end", evidence(heads=rows), measure="suppression", which="highest")
    assert found.value == pytest.approx(42)


def test_what_a_study_lacks_is_said():
    nothing = models("splitting", l2=(None, None, None))  # one head
    with pytest.raises(CannotSay, match="no model with weight decay has a splitting"):
        statistic("at_end", evidence(models=nothing), measure="splitting", which="highest", decay="with")
    with pytest.raises(CannotSay, match="no condition without weight decay"):
        evidence(["l2", "small"]).conditions("without")
    with pytest.raises(CannotSay, match="no two conditions differ in weight decay alone"):
        given = evidence(models=models("splitting", bare=(0.1, 0.2, 0.3), small=(0.1, 0.2, 0.3)))
        statistic("without_less_with_decay", given, measure="splitting")


def test_the_nearer_mode_counts():
    heads = [row | {"head": 0} for row in models("suppression", l2=(0.1, 0.1, 0.1), bare=(0.5, 0.5, 0.5))]
    given = evidence(models=models("splitting", l2=(0.6, 0.9, 0.9), bare=(0, 0, 0)), heads=heads)
    found = statistic("nearest_mode", given, splitting=75, suppression=20)
    assert found.value == pytest.approx((0.8 + 1.2 + 1.2) / 3) and found.detail.startswith("lowest: l2")


def test_weight_decay_is_compared_seed_by_seed():
    given = evidence(models=models("splitting", l2=(0.5, 0.7, 0.9), bare=(0.4, 0.7, 0.6), small=(0, 0, 0)))
    found = statistic("without_less_with_decay", given, measure="splitting")
    assert (found.value, found.low, found.high) == tuple(map(pytest.approx, mean_interval([-10, 0, -30])))
    assert found.detail == "bare less l2"


def test_a_trend_is_over_doublings_of_the_gap():
    flat = models("splitting", small=(0.1, 0.2, 0.1), l2=(0.3, 0.4, 0.2), large=(0.5, 0.6, 0.4), bare=(1.0, 1.0, 1.0))
    found = statistic("gap_trend", evidence(models=flat), measure="splitting")
    slopes = [20, 20, 15]
    assert found.value == pytest.approx(stats.ttest_1samp(slopes, 0).pvalue) and found.opposite is None
    assert found.detail.startswith("+18.3 points per doubling of the mean gap over 3 conditions")
    two = evidence(["l2", "bare", "small"], models=flat)
    with pytest.raises(CannotSay, match="2 mean gaps among conditions that differ in data alone, and a trend needs 3"):
        statistic("gap_trend", two, measure="splitting")


def ablations(measure, kind="mean", **by_condition):
    """by_condition: for each seed, the whole model's value and that without head 0, head 1 and both."""
    return [
        {"condition": condition, "seed": seed, "step": LAST, "kind": "none" if ablated == "" else kind}
        | {"ablated": ablated, measure: value}
        for condition, of_seeds in by_condition.items()
        for seed, values in zip(SEEDS, of_seeds, strict=True)
        for ablated, value in zip(("", "0", "1", "0+1"), values, strict=True)
    ]


def heads_of(condition, copying, suppression):
    return [
        {"condition": condition, "seed": seed, "step": LAST, "head": head}
        | {"copying": copying[head], "suppression": suppression[head]}
        for seed in SEEDS
        for head in (0, 1)
    ]


def test_the_suppressing_head_is_ablated():
    losses = ablations("loss", l2=[(1.0, 9.0, 1.0 + seed, 9.0) for seed in SEEDS], bare=[(0.0, 5.0, 5.0, 5.0)] * 3)
    heads = heads_of("l2", (0.9, 0.1), (0.5, 0.4)) + heads_of("bare", (0.9, 0.9), (0.1, 0.1))
    found = statistic(
        "without_suppressor", evidence(ablations=losses, heads=heads), measure="loss", kind="mean", suppression=20
    )  # head 0 suppresses more, but copies more still; of condition bare no head suppresses
    assert (found.value, found.low, found.high) == tuple(map(pytest.approx, mean_interval(SEEDS)))
    assert found.detail == "3 models of l2"
    with pytest.raises(CannotSay, match="no head was ablated by itself by kind zero"):
        statistic(
            "without_suppressor", evidence(ablations=losses, heads=heads), measure="loss", kind="zero", suppression=20
        )


def test_a_head_costs_its_own_numbers():
    """Head 0 copies 0 to 5, head 1 copies 4 to 9 of ten numbers: each copies 40 % alone, and costs that, nearly."""
    numbers = [
        {"condition": "l2", "seed": seed, "step": LAST, "head": head, "number": k, "copies": first <= k <= first + 5}
        for seed in SEEDS
        for head, first in ((0, 0), (1, 4))
        for k in range(10)
    ]
    accuracy = ablations("token_accuracy", l2=[(1.0, 0.6 - seed / 100, 0.6 + 3 * seed / 100, 0.0) for seed in SEEDS])
    given = evidence(
        numbers=numbers, ablations=accuracy, models=models("splitting", l2=(0.8, 0.8, 0.8), bare=(0.7, 0.7, 0.7))
    )
    found = statistic("cost_beyond_range", given, kind="mean", splitting=75)
    assert (found.value, found.low) == tuple(map(pytest.approx, mean_interval([2, 4, 6])[:2]))
    with pytest.raises(CannotSay, match="no model splits its vocabulary by more than 90 %"):
        statistic("cost_beyond_range", given, kind="mean", splitting=90)


def stage(condition, name, start, end, seeds=3):
    about = {"condition": condition, "stage": name, "seeds": seeds, "of": 3, "reason": None if seeds else "no fall"}
    return [about | {"point": point, "step": step} for point, step in (("start", start), ("end", end))]


def llc(condition, **by_estimator):
    """by_estimator: the mean over seeds at steps 10, 30 and 100; seeds are 1 below it, on it and 1 above it at the last
    step, and on it before."""
    return [
        {"condition": condition, "seed": seed, "step": step, "estimator": name}
        | {"value": value + (seed - 2) * (step == LAST)}
        for name, values in by_estimator.items()
        for seed in SEEDS
        for step, value in zip((10, 30, LAST), values, strict=True)
    ]


OVERLAPS = models("soft_overlap", l2=(0.05, 0.05, 0.06), bare=(0.3, 0.4, 0.3))
SPECIAL = {"stage": "specialisation", "which": "highest", "overlap": 10}


def test_the_llc_changes_by_every_estimator_or_not():
    stages = stage("l2", "specialisation", 30 * (1 - 1e-9), 60.0) + stage("bare", "specialisation", 10.0, 30.0)
    given = evidence(models=OVERLAPS, stages=stages, llc=llc("l2", raw=(10, 20, 10), tilted=(50, 40, 30)))
    found = statistic("llc_change", given, **SPECIAL)
    values = -20 + 2 * (np.array(SEEDS) - 2)  # of tilted, percent of 50; raw falls by half
    assert (found.value, found.high) == (pytest.approx(-20), pytest.approx(mean_interval(values)[2]))
    assert found.low == pytest.approx(-20 - stats.t.ppf(1 - 0.025 / 2, 2) * 2 / 3**0.5)  # of two estimators
    assert found.detail == "highest: tilted; raw -50, tilted -20; of l2"
    one = evidence(models=OVERLAPS, stages=stages, llc=llc("l2", raw=(10, 20, 10)))
    with pytest.raises(CannotSay, match=r"known by 1 estimators \(raw\), and 2 are needed"):
        statistic("llc_change", one, **SPECIAL)
    absent = evidence(
        models=OVERLAPS, stages=stage("l2", "specialisation", None, None, 0), llc=llc("l2", raw=(1, 2, 3))
    )
    with pytest.raises(CannotSay, match="known by 0 estimators"):
        statistic("llc_change", absent, **SPECIAL)


def test_a_control_that_falls_as_much_takes_the_fall_away():
    both = llc("l2", raw=(10, 20, 10), tilted=(50, 40, 30))
    stages = stage("l2", "specialisation", 30.0, 100.0)
    given = evidence(models=OVERLAPS, stages=stages, llc=both + llc("bare", raw=(20, 20, 20), tilted=(50, 40, 25)))
    found = statistic("llc_change_beyond_control", given, **SPECIAL)
    assert found.value == pytest.approx(-20 + 30) and found.detail.startswith("highest: tilted; raw -50, tilted +10")
    with pytest.raises(CannotSay, match="no control: no two conditions of the same data and model"):
        statistic("llc_change_beyond_control", evidence(models=OVERLAPS, stages=stages, llc=both), **SPECIAL)


def test_models_with_a_stage_are_counted():
    rows = stage("l2", "head overlap", 10.0, 30.0) + stage("bare", "head overlap", None, None, 0)
    found = statistic("models_with_stage", evidence(stages=rows), stage="head overlap")
    interval = stats.binomtest(3, 6).proportion_ci()
    assert (found.value, found.n, found.detail) == (50, 6, "no fall")
    assert (found.low, found.high) == (pytest.approx(100 * interval.low), pytest.approx(100 * interval.high))


def test_seeds_that_agree_have_an_interval_only_at_an_end():
    agree, at_end = over_seeds([40, 40], "", percent=True), over_seeds([100, 100], "", percent=True)
    assert (agree.value, agree.low, agree.high) == (40, None, None)
    assert (at_end.low, at_end.high) == (100, 100)
    assert over_seeds([40], "").low is None
    with pytest.raises(CannotSay, match="no seed has a value: losses"):
        over_seeds([np.nan], "losses")


@pytest.mark.parametrize("which", [LOWEST, HIGHEST])
@pytest.mark.parametrize("spread", [0.0, 3.0])
def test_intervals_of_the_condition_that_decides_cover_in_95_of_100(which, spread):
    """Four conditions whose means are the same (the hardest case) or apart; 3 seeds each."""
    means = spread * np.arange(4.0)
    truth = means.min() if which == LOWEST else means.max()
    draws = np.random.default_rng(0).normal(means[:, None], 1.0, (1000, 4, 3))
    found = [extreme(dict(enumerate(one)), which, "") for one in draws]
    assert np.mean([one.low <= truth <= one.high for one in found]) > 0.94


def test_a_study_has_a_verdict_for_every_claim():
    sorted_ = models("token_accuracy", l2=(0.99, 0.98, 0.99), bare=(0.99, 0.98, 0.99))
    rows = claims("s", evidence(["l2", "bare"], models=sorted_).tables, load_claims(CLAIMS))
    assert list(rows["claim"]) == [claim.claim for claim in load_claims(CLAIMS)] and rows["ft_seed"].isna().all()
    verdicts = rows.set_index("claim")["verdict"]
    assert verdicts["sorts"] == "supported" and set(verdicts.drop("sorts")) == {"undecided"}
    fails = models("token_accuracy", l2=(0.5, 0.52, 0.51))
    rows = claims("s", evidence(["l2"], models=fails).tables, load_claims(CLAIMS))
    assert set(rows["verdict"]) == {"not supported", "not applicable"}
    assert (rows["model"] == "one-layer transformer").all() and pd.unique(rows["study"]) == ["s"]
