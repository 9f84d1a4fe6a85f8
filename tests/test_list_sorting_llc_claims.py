"""Claims of list sorting about stages and the local learning coefficient (LLC) in them, on made tables."""

import numpy as np
import pytest
from list_sorting_claims import LAST, SEEDS, evidence, exact_zero_bound, statistic
from mentions import mentions, raises
from scipy import stats

from heuristic_core.experiments.list_sorting.statistics_llc import bracket_stage
from heuristic_core.stats.estimates import NotComputable, TooFewUnits
from heuristic_core.stats.means import bound_mean, mean_interval
from heuristic_core.stats.training_seeds import TAIL_TESTS

MEASURED = (0, 10, 20, 30, 60, LAST)
SAMPLED = (10, 30, LAST)


def stages(condition, learning=(10, 10), special=(30, 60), overlap=None, seeds=SEEDS):
    """Start and end of each stage, alike in all seeds; None: the model has no such stage."""
    ends = {"initial learning": learning, "head overlap": overlap, "specialisation": special}
    return [
        {"condition": condition, "seed": seed, "stage": name, "reason": None if steps else f"no {name}"}
        | (dict(zip(("start", "end"), steps, strict=True)) if steps else {})
        for seed in seeds
        for name, steps in ends.items()
    ]


def llc(condition, **by_estimator):
    """by_estimator: the mean over seeds at the sampled steps; seeds are 1 below it, on it and 1 above it at the last
    step, and on it before."""
    return [
        {"condition": condition, "seed": seed, "step": step, "estimator": name}
        | {"value": value + (seed - 2) * (step == LAST)}
        for name, values in by_estimator.items()
        for seed in SEEDS
        for step, value in zip(SAMPLED, values, strict=True)
    ]


def overlaps(**by_condition):
    """The overlap of each seed at the last step; it is 0.5 at the other measured steps."""
    return [
        {"condition": condition, "seed": seed, "step": step, "overlap": value if step == LAST else 0.5}
        for condition, values in by_condition.items()
        for seed, value in zip(SEEDS, values, strict=True)
        for step in MEASURED
    ]


OVERLAPS = overlaps(l2=(0.05, 0.05, 0.06), bare=(0.3, 0.4, 0.3))
SPECIAL = {"stage": "specialisation", "which": "highest", "overlap": 10, "estimators": "raw tilted"}


@pytest.mark.parametrize(
    ("stage", "expected"),
    [((30, 60), (30, 100)), ((60, 60), (30, 100)), ((30, 100), (30, 100)), ((10, 20), (10, 30))],
)
def test_the_llc_is_compared_between_sampled_steps_next_to_the_stage(stage, expected):
    assert bracket_stage(*stage, SAMPLED, MEASURED) == expected


def test_sampled_steps_far_from_a_stage_do_not_tell_of_it():
    with raises(NotComputable, 60, 10, 100, 1):
        bracket_stage(60, 60, (10, LAST), MEASURED)
    with raises(NotComputable, 10, 20, 100, 1):
        bracket_stage(10, 20, (10, LAST), MEASURED)
    with raises(NotComputable, 30, 100):
        bracket_stage(30, LAST, (10, 30, 60), MEASURED)
    with raises(NotComputable, 10, 20):
        bracket_stage(10, 20, (30, 60), MEASURED)


def test_the_llc_changes_by_every_estimator_or_not():
    rows = stages("l2") + stages("bare", special=(10, 30))
    study_evidence = evidence(models=OVERLAPS, seed_stages=rows, llc=llc("l2", raw=(10, 20, 10), tilted=(50, 40, 30)))
    result = statistic("llc_change", study_evidence, **SPECIAL)
    values = -20 + 2 * (np.array(SEEDS) - 2)  # of tilted, percent of 50; raw falls by half
    assert (result.value, result.high) == (pytest.approx(-20), pytest.approx(mean_interval(values)[2]))
    assert result.low == pytest.approx(-20 - stats.t.ppf(1 - 0.025 / (2 * TAIL_TESTS), 2) * 2 / 3**0.5)
    assert mentions(result.detail, "l2", "raw", -50, "tilted", -20)
    raw_alone = evidence(models=OVERLAPS, seed_stages=rows, llc=llc("l2", raw=(10, 20, 10)))
    with raises(NotComputable, "tilted"):
        statistic("llc_change", raw_alone, **SPECIAL)
    gone = evidence(models=OVERLAPS, seed_stages=stages("l2", special=None), llc=llc("l2", raw=(1, 2, 3)))
    with raises(NotComputable, "raw", "l2", 1, 2, "specialisation"):
        statistic("llc_change", gone, **SPECIAL)


def test_each_seed_has_its_own_stage():
    """Seed 3 specialises from step 10 to step 30, where its raw LLC doubles, and the others' halves afterwards."""
    rows = stages("l2", seeds=(1, 2)) + stages("l2", special=(10, 30), seeds=(3,))
    values = llc("l2", raw=(10, 20, 10), tilted=(50, 40, 30))
    result = statistic("llc_change", evidence(models=OVERLAPS, seed_stages=rows, llc=values), **SPECIAL)
    expected = [100 * change / 20 for change in (-11, -10, 10)]
    assert mentions(result.detail, "raw", "l2", f"{np.mean(expected):+.0f}")


def test_a_seed_without_a_value_is_named_and_two_are_needed():
    values = [
        row | ({"value": None} if (row["seed"], row["step"], row["estimator"]) == (3, 30, "raw") else {})
        for row in llc("l2", raw=(10, 20, 10), tilted=(50, 40, 30))
    ]
    result = statistic("llc_change", evidence(models=OVERLAPS, seed_stages=stages("l2"), llc=values), **SPECIAL)
    assert result.n == 2 and mentions(result.detail, "l2", 3, "raw", 30, 100)
    for row in values:
        row["value"] = None if (row["seed"], row["estimator"]) == (2, "raw") else row["value"]
    with raises(TooFewUnits, "raw", "l2"):
        statistic("llc_change", evidence(models=OVERLAPS, seed_stages=stages("l2"), llc=values), **SPECIAL)


def test_specialisation_begins_where_the_loss_has_fallen():
    """The overlap falls from step 10 on, and the loss until step 30: what the LLC does before is initial learning."""
    values = llc("l2", raw=(100, 20, 10), tilted=(100, 20, 10))
    early = stages("l2", learning=(10, 30), special=(10, 60))
    result = statistic("llc_change", evidence(models=OVERLAPS, seed_stages=early, llc=values), **SPECIAL)
    assert result.value == pytest.approx(-10)
    over = stages("l2", learning=(10, 60), special=(10, 60))
    with raises(NotComputable, 60):
        statistic("llc_change", evidence(models=OVERLAPS, seed_stages=over, llc=values), **SPECIAL)


def test_a_control_that_falls_as_much_takes_the_fall_away():
    condition_llc = llc("l2", raw=(10, 20, 10), tilted=(50, 40, 30))
    rows = stages("l2", special=(30, LAST)) + stages("bare", special=None)
    control = llc("bare", raw=(20, 20, 20), tilted=(50, 40, 25))
    control = [row | {"value": row["value"] + (row["seed"] == 1 and row["step"] == LAST)} for row in control]
    study_evidence = evidence(models=OVERLAPS, seed_stages=rows, llc=condition_llc + control)
    result = statistic("llc_change_beyond_control", study_evidence, **SPECIAL)
    each = [-20 + 2 * (seed - 2) - (-30 + 2 * (seed - 2 + (seed == 1))) for seed in SEEDS]
    assert (result.value, result.high) == (pytest.approx(np.mean(each)), pytest.approx(mean_interval(each)[2]))
    assert mentions(result.detail, "tilted", f"{np.mean(each):+.0f}", "l2", "bare", "raw")
    with pytest.raises(NotComputable):
        alone = evidence(models=OVERLAPS, seed_stages=rows, llc=condition_llc)
        statistic("llc_change_beyond_control", alone, **SPECIAL)


def test_of_models_whose_heads_specialise_those_with_a_stage_are_counted():
    """Of two conditions two models of three and one have the stage; heads of bare do not specialise."""
    have = {"l2": (1, 2), "large": (1,), "bare": SEEDS}
    rows = []
    for name, with_stage in have.items():
        rows += stages(name, overlap=(10, 30), seeds=with_stage)
        rows += stages(name, seeds=[seed for seed in SEEDS if seed not in with_stage])
    study_evidence = evidence(models=OVERLAPS + overlaps(large=(0.05, 0.05, 0.05)), seed_stages=rows)
    result = statistic("models_with_stage", study_evidence, stage="head overlap", overlap=10)
    ends = [bound_mean(np.array([100.0, 50, 0]), quantile, (0, 100)) for quantile in (0.025, 0.975)]
    assert (result.value, result.low, result.high) == tuple(map(pytest.approx, (50, *ends)))
    assert result.n == 3 and mentions(result.detail, "l2", "large", "head overlap")
    assert not mentions(result.detail, "bare")
    none = statistic(
        "models_with_stage", evidence(models=OVERLAPS, seed_stages=stages("l2")), stage="head overlap", overlap=10
    )
    assert (none.value, none.low, none.high) == (0, 0, pytest.approx(exact_zero_bound(3)))
    with raises(NotComputable, 1):
        statistic("models_with_stage", study_evidence, stage="head overlap", overlap=1)
