"""Statistics of claims about shared heads, and about what ablating them costs."""

import numpy as np
import pandas as pd
import pytest
from amounts import amount, covers
from claim_tables import JOINT, ablation, core_rows, evidence, group_row
from mentions import mentions, raises
from test_degenerate import run_rows

from heuristic_core.experiments.subnetworks.analysis import statistics_heads as heads
from heuristic_core.experiments.subnetworks.analysis import statistics_learned_masks as masks
from heuristic_core.experiments.subnetworks.analysis import statistics_single_heads as single_heads
from heuristic_core.stats.estimates import DoesNotApply, FailedRuns, NotComputable
from heuristic_core.stats.verdicts import decide_verdict


def test_repeated_word_attention_is_compared_within_layers():
    core = core_rows({0, 4}, set())
    shares = [
        {"step": 30, "component": c, "category": "repeated", "share": 0.9 if c in (0, 4) else 0.1 * (c % 4)}
        for c in range(8)
    ]
    result = single_heads.repeated_word_attention(evidence(core=core, attention=shares))
    assert result.value == pytest.approx(1 / 16, abs=0.01)  # the largest of four in both layers
    assert (result.opposite, result.n, result.min_attainable_p) == (1, 2, 1 / 16)


def test_random_heads_of_one_head_cannot_decide():
    """Of four heads of a layer the core's is the first with p 1/4: no p is below 0.05 on either side."""
    shares = [{"step": 30, "component": c, "category": "repeated", "share": 0.9 - 0.1 * c} for c in range(8)]
    result = single_heads.repeated_word_attention(evidence(core=core_rows({0}, set()), attention=shares))
    assert result.value >= result.min_attainable_p == 0.25 and decide_verdict(result, "p < 0.05") == "too few"
    least = single_heads.repeated_word_attention(evidence(core=core_rows({3}, set()), attention=shares))
    assert least.opposite >= 0.25 and decide_verdict(least, "p < 0.05") == "too few"
    with pytest.raises(NotComputable) as caught:
        single_heads.repeated_word_attention(evidence(core=core_rows(set(), set()), attention=shares))
    assert caught.type is NotComputable


# ---- the whole core


def test_the_joint_ablation_is_read_from_the_table():
    result = evidence(ablations=JOINT)
    controls = heads.against_controls(result, group="ood")
    assert (controls.value, controls.opposite, controls.n) == (pytest.approx(1 / 41), 1, 40)
    assert controls.min_attainable_p == controls.value and decide_verdict(controls, "p < 0.05") == "supported"
    inter = heads.interaction(result, of="accuracy", group="ood")
    assert inter.value == 5 and np.isnan(inter.low)
    with raises(NotComputable, "log_odds"):
        heads.interaction(result, of="log_odds", group="ood")


FULL_ACCURACY = {"j": 60.0, "id": 90.0, "ood": 80.0}  # on the pairs that are ablated


def joint(full=FULL_ACCURACY, **groups):
    """Rows of the core's ablation. groups: change and half of its interval."""
    return [
        row
        for group, (change, half) in groups.items()
        for row in ablation("strongest", "0.0+1.1", 2, {None: (group, change)}, accuracy=full[group] + change,
                            change_low=change - half, change_high=change + half)
    ]  # fmt: skip


def test_the_least_cost_is_that_of_the_kind_in_which_the_core_costs_least():
    def compute_least_cost(**costs):
        rows = [row | {"kind": kind} for kind, cost in costs.items() for row in joint(j=(-cost, 6.0), ood=(-1.0, 1.0))]
        return heads.least_cost(evidence(ablations=rows), group="j")

    result = compute_least_cost(mean=70.0, resample=20.0, counterfactual=95.0)
    assert (result.value, result.low, result.high) == (20.0, 14.0, 26.0) and result.n == 100
    assert mentions(result.detail, "0.0+1.1", "mean -70.0", "resample -20.0", "counterfactual -95.0", "J")
    assert decide_verdict(result, "> 0 points") == "supported"
    assert decide_verdict(compute_least_cost(mean=70.0, resample=5.0), "> 0 points") == "not clear"
    assert decide_verdict(compute_least_cost(mean=70.0, resample=-20.0), "> 0 points") == "contradicted"
    wide = [row | {"kind": "counterfactual"} for row in joint(j=(-95.0, 99.0))]
    mean = [row | {"kind": "mean"} for row in joint(j=(-20.0, 6.0))]
    unsure = heads.least_cost(evidence(ablations=[*mean, *wide]), group="j")
    assert (unsure.value, unsure.low) == (20.0, -4.0) and decide_verdict(unsure, "> 0 points") == "not clear"
    with raises(DoesNotApply, "mean", "analysis.ablation_kinds"):
        compute_least_cost(mean=70.0)


FULL_ON_ALL_PAIRS = [
    group_row(value, group, 0.0, None, low=value - 3, high=value + 3) for group, value in (("j", 75.0), ("id", 88.0))
]


def shares(rows, chance=50.0):
    study = evidence(ablations=rows, group_accuracy=FULL_ON_ALL_PAIRS, runs=run_rows(chance=chance))
    return heads.share_lost_beyond_the_task(study)


def test_what_the_core_costs_beyond_the_task_is_a_difference_of_shares():
    result = shares(joint(j=(-45.0, 6.0), id=(-2.0, 1.0)))
    assert result.value == pytest.approx(100 * (45 / 60 - 2 / 40))
    half = np.hypot(100 * 6 / 60, 100 * 1 / 40)
    assert (result.low, result.high, result.n) == pytest.approx((result.value - half, result.value + half, 200))
    assert mentions(result.detail, "0.0+1.1", "J -45.0", 60.0, "75 %", "ID -2.0", 40.0, "5 %")
    with pytest.raises(NotComputable) as caught:
        heads.share_lost_beyond_the_task(
            evidence(ablations=joint(j=(-45.0, 6.0), id=(-2.0, 1.0)), group_accuracy=FULL_ON_ALL_PAIRS)
        )
    assert caught.type is NotComputable


def test_the_loss_of_all_of_j_is_the_strongest_support():
    result = [shares(joint(j=(-lost, 6.0), id=(-2.0, 1.0))) for lost in (10, 30, 60, 65)]
    assert [item.value for item in result] == sorted(item.value for item in result)
    assert [decide_verdict(item, "> 0 points") for item in result] == ["supported"] * 4
    assert result[2].value == pytest.approx(95)


def test_the_loss_of_all_of_everything_is_not_clear():
    """A model that gives one class has nothing of J and nothing of ID above chance."""
    assert decide_verdict(shares(joint(j=(-60.0, 6.0), id=(-40.0, 4.0))), "> 0 points") == "not clear"
    assert decide_verdict(shares(joint(j=(0.0, 0.5), id=(0.0, 0.5))), "> 0 points") == "not clear"
    task_alone = shares(joint(j=(-3.0, 3.0), id=(-30.0, 3.0)))
    assert decide_verdict(task_alone, "> 0 points") == "contradicted"


def test_shares_of_nothing_do_not_exist():
    changes = {"j": (-3.0, 3.0), "id": (-2.0, 1.0)}
    for full_j in (-1.0, 4e-7):  # the second: 0, but for rounding
        with raises(DoesNotApply, f"{full_j:.1f}", "J"):
            shares(joint(FULL_ACCURACY | {"j": full_j}, **changes))
    rows = joint(**changes)
    with pytest.raises(FailedRuns):
        shares(rows, chance=90.0)
    printed = shares([row | {"change_low": None, "change_high": None} for row in rows])
    assert pd.isna(printed.low) and printed.n is None and decide_verdict(printed, "> 0 points") == "too few"


def bound_change(values, observed):
    """A change with its interval over pairs, points, of one or two classes of pairs, [pairs] each."""
    half = 196 * np.sqrt(sum(value.var(ddof=1) / len(value) for value in values))
    return 100 * observed, half


@pytest.mark.slow
@pytest.mark.sampled
@pytest.mark.parametrize("kept", [0.0, 0.4, 0.9])  # of what the full model has of J above a constant class
def test_intervals_of_shares_lost_hold_the_truth_over_resampled_pairs(kept):
    """The full model is measured on the same pairs, which the interval takes as known."""
    rng, pairs, held, count = np.random.default_rng([36, int(10 * kept)]), 300, [], amount(1000)
    right = {"ood": (0.75, 0.75 * kept), "entailment": (0.95, 0.95 * kept + 1 - kept), "id": (0.95, 0.93)}
    truth = 100 * (1 - kept - (0.95 - 0.93) / (0.95 - 0.5))
    for _ in range(count):
        drawn = {}
        for name, (whole, ablated) in right.items():  # a pair that is hard for one model is hard for the other
            hard = rng.random(pairs)
            other = np.where(rng.random(pairs) < 0.5, hard, rng.random(pairs))
            drawn[name] = (hard < whole).astype(float), (other < ablated).astype(float)
        change = {name: after - before for name, (before, after) in drawn.items()}
        whole = {name: 100 * before.mean() for name, (before, _) in drawn.items()}
        j = bound_change((change["ood"], change["entailment"]), change["ood"].mean() + change["entailment"].mean())
        full = {"j": whole["ood"] + whole["entailment"] - 100, "id": whole["id"]}
        result = shares(joint(full, j=j, id=bound_change((change["id"],), change["id"].mean())))
        held.append(result.low <= truth <= result.high)
    assert covers(held)


def test_ablations_are_judged_on_j():
    """A set without which the model rejects every pair: OOD accuracy rises, J falls."""
    rows = [*joint(id=(-20.0, 3.0), ood=(40.0, 4.0), j=(-50.0, 4.0))]
    rows[-1] |= {"interaction": 5.0, "interaction_low": 2.0, "interaction_high": 8.0}
    rows += [row for k in range(40) for row in ablation("control", f"control {k}", 2, {None: ("j", -1.0 * k)})]
    result = evidence(ablations=rows)
    assert heads.against_controls(result, group="j").value == pytest.approx(1 / 41)
    inter = heads.interaction(result, of="accuracy", group="j")
    assert (inter.value, inter.low, inter.high) == (5, 2, 8) and mentions(inter.detail, "0.0+1.1", "-50.0", "J")


def test_heads_that_cost_all_of_j_one_by_one_cannot_cost_more_together():
    """Of 70 points, two heads cost 40 each; together they cost 69, and log odds have no floor."""
    rows = joint(id=(-20.0, 3.0), ood=(-40.0, 4.0), j=(-69.0, 4.0))
    ends = {"interaction": -11.0, "interaction_low": -14.0, "interaction_high": -8.0, "accuracy": 1.0}
    rows[-1] |= ends | {f"log_odds_{name}": 2.0 for name in ends if name != "accuracy"}
    with raises(DoesNotApply, 80.0, 70.0, "J"):
        heads.interaction(evidence(ablations=rows), of="accuracy", group="j")
    assert heads.interaction(evidence(ablations=rows), of="log_odds", group="j").value == 2
    rows[-1] |= {"interaction": 30.0, "interaction_low": 25.0, "interaction_high": 35.0}
    assert heads.interaction(evidence(ablations=rows), of="accuracy", group="j").value == 30


def test_seeds_that_contradict_a_claim_are_judged():
    """A core whose ablation gains accuracy costs less than every random set."""
    gain = [row | ({"change": 3.0} if row["role"] == "strongest" and row["group"] == "ood" else {}) for row in JOINT]
    result = heads.against_controls(evidence(ablations=gain), group="ood")
    assert (result.value, result.opposite) == (1, pytest.approx(1 / 41))
    assert decide_verdict(result, "p < 0.05") == "contradicted"
    assert heads.interaction(evidence(ablations=gain), of="accuracy", group="ood").value == 5


def test_a_core_of_more_than_three_is_judged_whole():
    whole = [row | {"role": "core-all", "ablation": "core-all", "layers": "0+1+1+1"} for row in JOINT[:1]]
    result = evidence(ablations=[*JOINT, *(row | {"group": "ood", "change": -9.0} for row in whole)])
    with raises(NotComputable, "core-all"):
        heads.against_controls(result, group="ood")


def test_few_or_no_random_sets_decide_nothing():
    few = heads.against_controls(evidence(ablations=JOINT[:-2]), group="j")
    assert (few.n, few.value) == (38, pytest.approx(1 / 39)) and decide_verdict(few, "p < 0.05") == "too few"
    alone = [row for row in JOINT if row["role"] != "control"]
    with pytest.raises(NotComputable) as caught:
        heads.against_controls(evidence(ablations=alone), group="j")
    assert caught.type is NotComputable


def test_a_core_of_one_head_has_no_interaction_and_too_few_random_sets():
    rows = [
        row
        for k in range(8)
        for row in ablation("core" if k == 0 else "non-core", f"0.{k}", 1, {None: ("j", k - 30.0)}, layers="0")
    ]
    result = evidence(ablations=rows)
    controls = heads.against_controls(result, group="j")
    assert (controls.n, controls.value) == (7, 1 / 8) and decide_verdict(controls, "p < 0.05") == "too few"
    with raises(DoesNotApply, "0.0"):
        heads.interaction(result, of="accuracy", group="j")


def test_the_null_of_the_core_is_read_with_both_tails():
    rows = [{"set": "mid+high", "n": 8, "observed": 3, "expected": 0.5, "p": 0.01, "p_fewer": 0.995}]
    result = masks.shared_heads(evidence(core_null=rows), set="mid+high")
    assert (result.value, result.opposite) == (0.01, 0.995)
