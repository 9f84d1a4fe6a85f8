"""Claims: their file, every statistic on small tables with known answers, and their table."""

import numpy as np
import pandas as pd
import pytest
import yaml
from conftest import ROOT
from scipy import stats

from heuristic_core.analysis import statistics_accuracy as accuracy
from heuristic_core.analysis import statistics_heads as heads
from heuristic_core.analysis.claims import STATISTICS, claims
from heuristic_core.analysis.estimates import CannotSay, Evidence, of_run
from heuristic_core.analysis.verdicts import verdict
from heuristic_core.common.errors import InputError
from heuristic_core.config import ConfigError
from heuristic_core.config.claims import Need, load_claims
from heuristic_core.config.context import Context
from heuristic_core.tables.parquet import as_frame, as_table
from heuristic_core.tables.schemas import SCHEMAS, schema

RUN = {"study": "s", "model": "m", "task": "t", "ft_seed": 1}
CONTEXT = Context(
    mid=0.3, high=0.5, last=30, seeds=(1, 2, 3, 4), curve_seeds=(1, 2), margin=3.0, early=10, early_seeds=(1, 2)
)


def test_the_shipped_claims_name_statistics_and_tables_that_exist():
    shipped = load_claims(ROOT / "claims.yaml")
    assert {one.statistic for claim in shipped for one in claim.statistics} == set(STATISTICS)
    assert {table for claim in shipped for table in claim.tables} <= set(SCHEMAS)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"threshold": "above 3"}, r"0\.threshold = 'above 3'"),
        ({"statistik": "x"}, r"0\.statistik"),
        ({"tables": []}, r"0\.tables = \[\]"),
        ({"needs": [{"statistic": "x"}]}, r"0\.needs\.0\.threshold = "),
        ({"needs": [{"statistic": "x", "threshold": "p < 0.05"}]}, r"0\.needs\.0\.threshold = 'p < 0.05'"),
        ({"needs": [{"statistic": "x", "threshold": "> 0", "paper": "p"}]}, r"0\.needs\.0\.paper = 'p'"),
    ],
)
def test_a_faulty_claim_is_named(tmp_path, change, message):
    claim = {"claim": "a", "sentence": "A", "paper": "p", "tables": ["core"], "statistic": "x", "threshold": "> 3"}
    (tmp_path / "claims.yaml").write_text(yaml.safe_dump([claim | change]))
    with pytest.raises(ConfigError, match=message):
        load_claims(tmp_path / "claims.yaml")


def test_a_claim_stands_once_and_its_file_exists(tmp_path):
    path = tmp_path / "claims.yaml"
    path.write_text(yaml.safe_dump(2 * yaml.safe_load((ROOT / "claims.yaml").read_text())))
    with pytest.raises(ConfigError, match="occurs twice"):
        load_claims(path)
    with pytest.raises(ConfigError, match="no such file"):
        load_claims(tmp_path / "absent.yaml")


# ---- statistics


def table(name, rows):
    """Rows of a table, columns they lack null."""
    empty = dict.fromkeys(schema(name).names)
    return as_frame(as_table(name, [empty | RUN | row for row in rows]))


def evidence(**tables):
    return Evidence(CONTEXT, of_run({name: table(name, rows) for name, rows in tables.items()}, RUN))


def group_row(value, group="ood", sparsity=0.3, seed=1, **more):
    return {"step": 30, "sparsity": sparsity, "seed": seed, "repeat": 0, "group": group, "accuracy": value} | more


SPREAD = [group_row(value, seed=seed) for seed, value in ((1, 10.0), (2, 20.0), (3, 30.0), (4, 60.0))]
FULL = group_row(80.0, sparsity=0.0, seed=None, low=75.0, high=85.0, n=200, unit="template", units=12)


def test_full_accuracy_has_the_bootstraps_interval():
    found = accuracy.full_accuracy(evidence(group_accuracy=[FULL]), group="ood")
    assert (found.value, found.low, found.high, found.n, found.unit) == (80, 75, 85, 12, "templates")


def test_units_of_intervals_are_named_in_the_plural():
    row = FULL | {"unit": "pair of one template or template"}
    found = accuracy.full_accuracy(evidence(group_accuracy=[row]), group="ood")
    assert found.unit == "pairs of one template or templates"


def test_ood_at_saturation_is_taken_at_the_first_saturated_evaluation():
    rows = [
        {
            "step": step,
            "subset": subset,
            "group": group,
            "accuracy": value,
            "low": value - 3,
            "high": value + 3,
            "n": 50,
            "unit": "pair",
            "units": 50,
        }
        for step, values in {5: (60, 1, 3), 10: (96, 2, 6), 20: (100, 40, 50)}.items()
        for subset, group, value in zip(("in", "a", "b"), ("id", "ood", "ood"), values, strict=True)
    ]
    found = accuracy.ood_at_saturation(evidence(finetune_accuracy=rows), share=0.95)
    assert (found.value, found.n) == (4, 100)
    assert (found.low, found.high) == pytest.approx((4 - np.sqrt(18) / 2, 4 + np.sqrt(18) / 2))
    assert found.detail.startswith("at step 10: ID 96.0 %")


def test_seed_statistics_are_over_pruning_seeds():
    found = evidence(group_accuracy=[*SPREAD, FULL])
    values = [10, 20, 30, 60]
    sd = accuracy.seed_sd(found, group="ood", sparsity="mid")
    assert sd.value == pytest.approx(np.std(values, ddof=1))
    assert sd.low < sd.value < sd.high
    mean = accuracy.spread_mean(found, group="ood", sparsity="mid")
    assert (mean.value, mean.n) == (30, 4)
    share = accuracy.share_of_full(found, group="ood", sparsity="mid")
    assert share.value == pytest.approx(100 * 30 / 80)
    with pytest.raises(CannotSay, match="no ood accuracy at high sparsity"):
        accuracy.spread_mean(found, group="ood", sparsity="high")


def test_mean_subset_sd_averages_over_subsets():
    rows = [row | {"subset": name} for row, name in ((r, s) for r in SPREAD for s in ("a", "b"))]
    rows = [row | {"accuracy": 7.0} if row["subset"] == "b" else row for row in rows]
    found = accuracy.mean_subset_sd(evidence(accuracy=rows), group="ood", sparsity="mid")
    assert found.value == pytest.approx(np.std([10, 20, 30, 60], ddof=1) / 2)
    assert "widest on a" in found.detail


def actual(*shares):
    rows = [{"step": 30, "sparsity": 0.3, "seed": s, "repeat": 0, "component": 0} for s in (1, 2, 3, 4)]
    return [row | {"actual_sparsity": share} for row, share in zip(rows, shares, strict=True)]


def test_actual_sparsity_is_correlated_over_seeds():
    options = {"group": "ood", "sparsity": "mid"}
    uneven = actual(0.29, 0.28, 0.27, 0.26)
    found = accuracy.sparsity_correlation(evidence(group_accuracy=SPREAD, components=uneven), **options)
    assert found.value == pytest.approx(2 / 24, abs=0.01)  # of all orders of four, the same one and its reverse
    assert found.detail.startswith("rho -1.00")
    with pytest.raises(CannotSay, match="all keep the same number of components"):
        accuracy.sparsity_correlation(evidence(group_accuracy=SPREAD, components=actual(*[0.3] * 4)), **options)
    level = [row | {"accuracy": 0.0} for row in SPREAD]
    with pytest.raises(CannotSay, match="all have the same ood accuracy"):
        accuracy.sparsity_correlation(evidence(group_accuracy=level, components=uneven), **options)


def test_within_over_between():
    row = {"step": 30, "sparsity": 0.3, "group": "ood", "between_sd": 6.0, "seeds": 12, "repeated": 3, "within_sd": 2.0}
    options = {"group": "ood", "sparsity": "mid"}
    found = accuracy.within_over_between(evidence(variance=[row]), **options)
    assert found.value == pytest.approx(1 / 3)
    assert found.high == pytest.approx(np.sqrt(1 / 9 / stats.f.ppf(0.025, 3, 11)))
    same = accuracy.within_over_between(evidence(variance=[row | {"within_sd": 0.0}]), **options)
    assert (same.value, same.low, same.high) == (0, 0, 0)
    with pytest.raises(CannotSay, match=r"grid\.repeats"):
        accuracy.within_over_between(evidence(variance=[row | {"within_sd": None, "repeated": 0}]), **options)


def test_saturation_needs_both_groups():
    rows = [{"step": 5, "subset": "in", "group": "id", "accuracy": 90.0}]
    with pytest.raises(CannotSay, match="no ood subset"):
        accuracy.ood_at_saturation(evidence(finetune_accuracy=rows), share=0.95)


def core_rows(in_core, early, size=4):
    return [
        {"component": c, "kind": "head", "layer": c // size, "head": c % size, "in_core": c in in_core}
        | {"mid": 4, "high": 4, "n_mid": 4, "n_high": 4, "n_early": 2, "early": 2 if c in early else 0}
        for c in range(2 * size)
    ]


def test_repeated_word_attention_is_compared_within_layers():
    core = core_rows({0, 4}, set())
    shares = [
        {"step": 30, "component": c, "category": "repeated", "share": 0.9 if c in (0, 4) else 0.1 * (c % 4)}
        for c in range(8)
    ]
    found = heads.repeated_word_attention(evidence(core=core, attention=shares))
    assert found.value == pytest.approx(1 / 16, abs=0.01)  # the largest of four in both layers
    assert found.opposite == 1
    assert found.n == 2
    assert found.opposite == 1


def ablation(role, name, size, changes, **more):
    """changes: subset or None -> (group, change)."""
    base = {"step": 30, "kind": "mean", "ablation": name, "role": role, "size": size, "layers": "0+1", "n": 100}
    return [base | {"subset": s, "group": g, "change": c} | more for s, (g, c) in changes.items()]


JOINT = [
    *ablation("strongest", "0.0+1.1", 2, {None: ("id", -2.0)}, change_low=-3.0, change_high=-1.0),
    *ablation("strongest", "0.0+1.1", 2, {None: ("ood", -40.0)}, change_low=-44.0, change_high=-36.0, interaction=5.0),
    *ablation("strongest", "0.0+1.1", 2, {"a": ("ood", -50.0)}, accuracy=30.0, interaction=15.0, interaction_low=5.0,
              interaction_high=20.0),
    *ablation("strongest", "0.0+1.1", 2, {"b": ("ood", -30.0)}, accuracy=20.0, interaction=-5.0, interaction_low=-9.0,
              interaction_high=-1.0),
    *(row for k in range(20) for row in ablation("control", f"control {k}", 2, {None: ("ood", -1.0 * k)})),
]  # fmt: skip


def test_the_joint_ablation_is_read_from_the_table():
    found = evidence(ablations=JOINT)
    difference = heads.ood_minus_id_drop(found)
    assert difference.value == 38
    assert (difference.low, difference.high) == pytest.approx((38 - np.hypot(1, 4), 38 + np.hypot(1, 4)))
    controls = heads.against_controls(found)
    assert (controls.value, controls.opposite) == (pytest.approx(1 / 21), 1)
    inter = heads.interaction(found, of="accuracy")
    assert (inter.value, inter.low) == (5, None)
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
    with pytest.raises(CannotSay, match="random sets like core-all: too few heads outside the core"):
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
    (claim,) = [claim for claim in load_claims(ROOT / "claims.yaml") if claim.statistic == "lowest_interaction"]
    assert verdict(found, claim.threshold) == "supported"


def test_printed_interactions_have_no_interval():
    printed = heads.lowest_interaction(evidence(ablations=of_subsets(b={"interaction_low": None})))
    assert printed.value == -5 and pd.isna(printed.low) and not printed.exact


def test_tests_are_read_as_they_stand():
    rows = [{"set": "mid+high", "n": 8, "observed": 3, "expected": 0.5, "p": 0.01, "p_fewer": 0.995}]
    found = heads.shared_heads(evidence(core_null=rows), set="mid+high")
    assert (found.value, found.opposite) == (0.01, 0.995)
    row = {"step": 30, "sparsity": 0.5, "control": "random", "group": "id", "accuracy": 60.0, "difference": 20.0}
    rows = [row | {"difference_low": 18.0, "difference_high": 22.0}]
    high = [group_row(80.0, group="id", sparsity=0.5, seed=s) for s in (1, 2, 3)]
    found = accuracy.over_control(
        evidence(controls=rows, group_accuracy=high), control="random", group="id", sparsity="high"
    )
    assert (found.value, found.low, found.high, found.n) == (20, 18, 22, 3)


# ---- the table


def stated(**change):
    name = "high-sparsity-keeps-the-task"
    (one,) = [claim for claim in load_claims(ROOT / "claims.yaml") if claim.claim == name]
    return [one.model_copy(update={"statistic": "spread_mean", "threshold": "< 10 %"} | change)]


def spread_of(ft_seed, values):
    rows = [
        group_row(v, group="id", sparsity=0.5, seed=s) | {"ft_seed": ft_seed} for s, v in enumerate(values, start=1)
    ]
    return table("group_accuracy", rows)


def test_a_study_is_judged_over_its_fine_tuning_seeds():
    values = {1: [1, 2, 1, 2], 2: [2, 3, 2, 3], 3: [4, 3, 4, 3]}
    agree = pd.concat([spread_of(*item) for item in values.items()])
    result = claims(CONTEXT, {"group_accuracy": agree}, stated())
    assert list(result.columns) == schema("claims").names
    assert result["ft_seed"].isna().tolist() == [True, False, False, False]
    assert result["verdict"].tolist() == ["supported"] * 4
    half = stats.t.ppf(0.975, 2) * np.std([1.5, 2.5, 3.5], ddof=1) / np.sqrt(3)
    assert result[["estimate", "low", "high"]].iloc[0].tolist() == pytest.approx([2.5, 2.5 - half, 2.5 + half])
    assert (result["n"][0], result["unit"][0]) == (3, "fine-tuning seeds")
    differ = pd.concat([spread_of(1, [1, 2, 1, 2]), spread_of(2, [40, 30, 40, 30])])
    result = claims(CONTEXT, {"group_accuracy": differ}, stated())
    assert result["verdict"].tolist() == ["undecided", "supported", "not supported"]
    assert result["detail"][0] == "fine-tuning seeds by themselves: 1 supported, 1 not supported"


def test_one_fine_tuning_seed_speaks_for_its_study():
    result = claims(CONTEXT, {"group_accuracy": spread_of(1, [1, 2, 1, 2])}, stated())
    whole, own = result.drop(columns=["ft_seed", "opposite"]).to_dict("records")
    assert whole == own and whole["verdict"] == "supported" and whole["unit"] == "pruning seeds"


def test_fine_tuning_seeds_without_a_value_have_no_part():
    some = pd.concat([spread_of(1, [1, 2, 1, 2]), spread_of(2, [1, 2, 1, 3]), spread_of(3, [None] * 4)])
    whole = claims(CONTEXT, {"group_accuracy": some}, stated()).iloc[0]
    assert (whole["verdict"], whole["n"]) == ("supported", 2)
    assert whole["detail"] == (
        "fine-tuning seeds by themselves: 2 supported, 1 undecided; judged over the 2 of 3 that have a value"
    )
    one = claims(CONTEXT, {"group_accuracy": some[some["ft_seed"] != 2]}, stated()).iloc[0]
    assert (one["verdict"], one["detail"].partition("; ")[2]) == (
        "undecided", "a value is known of 1, and two are needed"
    )  # fmt: skip


def test_what_is_missing_leaves_a_claim_undecided():
    other = table("core", core_rows({0}, {0}))
    result = claims(CONTEXT, {"core": other}, stated())
    assert result["verdict"].tolist() == ["undecided"] * 2
    assert result["detail"].tolist() == ["the study has no table group_accuracy"] * 2
    assert result["estimate"].isna().all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"statistic": "absent"}, "no statistic 'absent'; there are"),
        ({"options": {"group": "id", "sparsity": "mid", "share": 1}}, "options of statistic spread_mean: .*'share'"),
        ({"needs": [Need(statistic="absent", threshold="> 0")]}, "no statistic 'absent'; there are"),
        ({"needs": [Need(statistic="full_accuracy", threshold="> 0")]}, "statistic full_accuracy: .*'group'"),
    ],
)
def test_what_no_statistic_has_is_named_before_anything_is_judged(change, message):
    with pytest.raises(InputError, match=message):
        claims(CONTEXT, {}, stated(**change))
