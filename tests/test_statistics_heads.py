"""Statistics of claims about shared heads, and about what ablating them costs."""

import numpy as np
import pandas as pd
import pytest
from claim_tables import JOINT, ablation, core_rows, evidence
from conftest import CLAIMS
from scipy import stats

from heuristic_core.analysis.estimates import CannotSay
from heuristic_core.analysis.verdicts import verdict
from heuristic_core.config.claims import load_claims
from heuristic_core.experiments.heuristic_core.analysis import statistics_heads as heads
from heuristic_core.experiments.heuristic_core.analysis import statistics_learned_masks as masks
from heuristic_core.experiments.heuristic_core.analysis import statistics_single_heads as single_heads


def test_repeated_word_attention_is_compared_within_layers():
    core = core_rows({0, 4}, set())
    shares = [
        {"step": 30, "component": c, "category": "repeated", "share": 0.9 if c in (0, 4) else 0.1 * (c % 4)}
        for c in range(8)
    ]
    found = single_heads.repeated_word_attention(evidence(core=core, attention=shares))
    assert found.value == pytest.approx(1 / 16, abs=0.01)  # the largest of four in both layers
    assert found.opposite == 1
    assert found.n == 2
    assert found.opposite == 1


def test_the_joint_ablation_is_read_from_the_table():
    found = evidence(ablations=JOINT)
    difference = heads.ood_minus_id_drop(found)
    assert difference.value == 38
    assert (difference.low, difference.high) == pytest.approx((38 - np.hypot(1, 4), 38 + np.hypot(1, 4)))
    controls = heads.against_controls(found)
    assert (controls.value, controls.opposite) == (pytest.approx(1 / 21), 1)
    inter = heads.interaction(found, of="accuracy")
    assert inter.value == 5 and np.isnan(inter.low)
    with pytest.raises(CannotSay, match="no interaction in log_odds"):
        heads.interaction(found, of="log_odds")
    lowest = heads.lowest_interaction(found)
    wider = stats.norm.ppf(1 - 0.025 / 2) / stats.norm.ppf(0.975)
    assert (lowest.value, lowest.n) == (-5, 2)
    assert (lowest.low, lowest.high) == pytest.approx((-5 - 4 * wider, -5 + 4 * wider))
    assert lowest.detail == "negative on 1 of 2: a +15.0, b -5.0"


def test_ablations_are_judged_on_j_beside_accuracy():
    """A set without which the model rejects every pair: OOD accuracy rises, J falls."""
    joint = [
        *ablation("strongest", "0.0+1.1", 2, {None: ("id", -20.0)}, change_low=-23.0, change_high=-17.0),
        *ablation("strongest", "0.0+1.1", 2, {None: ("ood", 40.0)}, change_low=36.0, change_high=44.0),
        *ablation("strongest", "0.0+1.1", 2, {None: ("j", -50.0)}, change_low=-54.0, change_high=-46.0,
                  interaction=5.0, interaction_low=2.0, interaction_high=8.0),
        *(row for k in range(20) for row in ablation("control", f"control {k}", 2, {None: ("j", -1.0 * k)})),
    ]  # fmt: skip
    found = evidence(ablations=joint)
    assert heads.ood_minus_id_drop(found).value == -60
    half = heads.ood_minus_id_drop(found, group="j")  # of J, which is of two classes
    assert half.value == 5 and half.detail.startswith("0.0+1.1: half of J -25.0, ID -20.0")
    assert heads.against_controls(found, group="j").value == pytest.approx(1 / 21)
    with pytest.raises(CannotSay, match=r"gains 40\.0 points out-of-domain"):
        heads.interaction(found, of="accuracy")
    inter = heads.interaction(found, of="accuracy", group="j")
    assert (inter.value, inter.low, inter.high) == (5, 2, 8) and inter.detail == "0.0+1.1: -50.0 points J together"


def test_a_core_of_more_than_three_is_judged_whole():
    whole = [row | {"role": "core-all", "ablation": "core-all", "layers": "0+1+1+1"} for row in JOINT[:1]]
    found = evidence(ablations=[*JOINT, *whole, *(row | {"group": "ood", "change": -9.0} for row in whole)])
    assert heads.ood_minus_id_drop(found).value == 7
    with pytest.raises(CannotSay, match="random sets like core-all: its layers have no other set"):
        heads.against_controls(found)


def test_few_or_no_random_sets_decide_nothing():
    with pytest.raises(CannotSay, match="19 random sets cannot decide, 20 can"):
        heads.against_controls(evidence(ablations=JOINT[:-1]))
    with pytest.raises(CannotSay, match="no random sets of heads were ablated"):
        heads.against_controls(evidence(ablations=JOINT[:4]))


def test_a_set_that_gains_out_of_domain_accuracy_has_no_cost_to_compare():
    """A model that comes to reject every pair does."""
    gain = [row | ({"change": 3.0} if row["group"] == "ood" and row["subset"] is None else {}) for row in JOINT]
    with pytest.raises(CannotSay, match=r"ablating 0\.0\+1\.1 gains 3\.0 points out-of-domain"):
        heads.interaction(evidence(ablations=gain), of="accuracy")


def of_subsets(**change):
    """The joint set on the OOD subsets a and b; change: subset -> what differs."""
    return [row | change.get(row["subset"] or "", {}) for row in JOINT[:4]]


def test_a_subset_at_a_floor_or_ceiling_has_no_cost_to_compare():
    """An interaction of exactly 0 there supports nothing."""
    level = {"interaction": 0.0, "interaction_low": 0.0, "interaction_high": 0.0}
    for end in ({"accuracy": 2.0}, {"accuracy": 98.0}, {"accuracy": 60.0, "change": 3.0}):
        found = heads.lowest_interaction(evidence(ablations=of_subsets(b=end | level)))
        assert (found.value, found.low, found.high, found.n) == (15, 5, 20, 1)
        assert found.detail == "negative on 0 of 1: a +15.0; 1 more at a floor or ceiling, or gaining"
    with pytest.raises(CannotSay, match="no OOD subset of 2 on which the set has a cost between floor and ceiling"):
        heads.lowest_interaction(evidence(ablations=of_subsets(a={"accuracy": 0.0}, b={"accuracy": 100.0})))


def test_additive_everywhere_is_nowhere_sub_additive():
    """Within the margin: that the set is super-additive on every subset is not what the paper says."""
    additive = {"interaction": 0.0, "interaction_low": -2.0, "interaction_high": 2.0}
    found = heads.lowest_interaction(evidence(ablations=of_subsets(a=additive, b=additive)))
    (claim,) = [claim for claim in load_claims(CLAIMS) if claim.statistic == "lowest_interaction"]
    assert verdict(found, claim.threshold) == "supported"


def test_printed_interactions_have_no_interval():
    printed = heads.lowest_interaction(evidence(ablations=of_subsets(b={"interaction_low": None})))
    assert printed.value == -5 and pd.isna(printed.low) and not printed.exact


def test_the_null_of_the_core_is_read_with_both_tails():
    rows = [{"set": "mid+high", "n": 8, "observed": 3, "expected": 0.5, "p": 0.01, "p_fewer": 0.995}]
    found = masks.shared_heads(evidence(core_null=rows), set="mid+high")
    assert (found.value, found.opposite) == (0.01, 0.995)
