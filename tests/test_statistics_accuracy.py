"""Statistics of claims about the accuracy of the full model and of the spread."""

import numpy as np
import pytest
from claim_tables import FULL, SPREAD, actual, evidence, group_row
from mentions import mentions, raises
from test_degenerate import run_rows

from heuristic_core.experiments.subnetworks.analysis import statistics_accuracy as accuracy
from heuristic_core.stats.estimates import DoesNotApply, NotComputable, TooFewUnits

OOD_MID = {"group": "ood", "sparsity": "mid"}


def test_full_accuracy_has_the_bootstraps_interval():
    result = accuracy.full_accuracy(evidence(group_accuracy=[FULL]), group="ood")
    assert (result.value, result.low, result.high, result.n, result.unit) == (80, 75, 85, 12, "templates")


def test_units_of_intervals_are_named_in_the_plural():
    row = FULL | {"unit": "example of one template or template"}
    result = accuracy.full_accuracy(evidence(group_accuracy=[row]), group="ood")
    assert [unit.split()[0] for unit in result.unit.split(" or ")] == ["examples", "templates"]


# ---- saturation


def curve(by_step):
    """Table "finetune_accuracy": step -> accuracy on one ID subset and two OOD subsets."""
    return [
        {"step": step, "subset": subset, "group": group, "accuracy": value}
        | {"low": value - 3, "high": value + 3, "n": 50, "unit": "example", "units": 50}
        for step, values in by_step.items()
        for subset, group, value in zip(("in", "a", "b"), ("id", "ood", "ood"), values, strict=True)
    ]


OF_CHANCE = {  # a full model of three labels, and of two
    chance: {"runs": run_rows(chance=chance), "group_accuracy": [group_row(90.0, "id", 0.0, None, low=88.0, high=92.0)]}
    for chance in (0.0, 50.0)
}


def saturated(by_step, chance=0.0):
    return accuracy.ood_at_saturation(evidence(finetune_accuracy=curve(by_step), **OF_CHANCE[chance]), share=0.95)


LEARNING = {5: (60, 1, 3), 10: (96, 2, 6), 20: (100, 40, 50)}
PLATEAU = LEARNING | {30: (99, 60, 70)}


def test_ood_at_saturation_is_taken_at_the_first_saturated_evaluation():
    result = saturated(PLATEAU)
    assert (result.value, result.n) == (4, 100)
    assert (result.low, result.high) == pytest.approx((4 - np.sqrt(18) / 2, 4 + np.sqrt(18) / 2))
    assert mentions(result.detail, 10, "ID", 96.0)


def test_a_model_that_still_learns_has_not_saturated():
    """Its last evaluation is its best; two evaluations near the best are no plateau, three are."""
    for by_step in (LEARNING, PLATEAU | {40: (110, 70, 80)}, PLATEAU | {40: (94, 70, 80)}):
        with raises(DoesNotApply, 95):
            saturated(by_step)
    assert saturated({1: (90, 2, 2), 2: (91, 3, 3), 3: (90, 4, 4)}).value == 2  # saturated from the first one on


@pytest.mark.parametrize("evaluations", [12, 18, 80, 123, 246])
@pytest.mark.parametrize("power", [1, 1 / 4])  # 95 % of the best are reached after 95 and after 81 % of the steps
def test_a_steady_rise_never_saturates_however_often_it_is_evaluated(evaluations, power):
    rise = {100 * k: (100 * (k / evaluations) ** power, 0, 0) for k in range(1, evaluations + 1)}
    with raises(DoesNotApply, 95):
        saturated(rise)
    level = {step: (100 if step > 60 * evaluations else value[0], 0, 0) for step, value in rise.items()}
    assert saturated(level).value == 0


def test_saturation_is_of_what_exceeds_chance():
    """Two labels, best 55 %: 95 % of it would be 52.25, 45 % of what exceeds chance; 54.75 is right."""
    by_step = {step: (value, step, step) for step, value in enumerate((50, 52.25, 54.7, 54.75, 55, 55))}
    result = saturated(by_step, 50.0)
    assert result.value == 3 and mentions(result.detail, 3, "ID", 54.8, 55.0)
    assert saturated(by_step, 0.0).value == 1
    with raises(DoesNotApply, 50.0):
        saturated(dict.fromkeys(range(4), (50, 0, 0)), 50.0)
    with pytest.raises(NotComputable) as reason:
        accuracy.ood_at_saturation(evidence(finetune_accuracy=curve(by_step)), share=0.95)
    assert reason.value.verdict == "not run"


def test_two_evaluations_are_too_few_for_saturation():
    with raises(TooFewUnits, 2, 3):
        saturated({1: (99, 2, 2), 2: (99, 3, 3)})


def test_ood_at_saturation_is_no_less_than_0():
    assert saturated(PLATEAU | {10: (96, 0, 0)}).low == 0


def test_saturation_needs_both_groups():
    rows = [{"step": 5, "subset": "in", "group": "id", "accuracy": 90.0}]
    with raises(NotComputable, "ood") as reason:
        accuracy.ood_at_saturation(evidence(finetune_accuracy=rows), share=0.95)
    assert reason.value.verdict == "not run"


# ---- over pruning seeds


def test_actual_sparsity_is_correlated_over_seeds():
    uneven = actual(0.29, 0.28, 0.27, 0.26)
    result = accuracy.sparsity_correlation(evidence(group_accuracy=SPREAD, components=uneven), **OOD_MID)
    assert result.value == pytest.approx(2 / 24, abs=0.01)  # of all orders of four, the same one and its reverse
    assert result.opposite is None and mentions(result.detail, "-1.00")
    with pytest.raises(DoesNotApply):
        accuracy.sparsity_correlation(evidence(group_accuracy=SPREAD, components=actual(*[0.3] * 4)), **OOD_MID)
    level = [row | {"accuracy": 0.0} for row in SPREAD]
    with raises(DoesNotApply, "ood"):
        accuracy.sparsity_correlation(evidence(group_accuracy=level, components=uneven), **OOD_MID)
