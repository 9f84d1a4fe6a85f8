"""What the core leaves and what it suffices for: the sets that are ablated, and the claims on them."""

from collections import Counter

import numpy as np
import pytest
from amounts import amount, by_chance
from claim_tables import CONTEXT, ablation, core_rows, evidence
from conftest import CLAIMS
from figure_head_tables import ablation_rows
from figure_tables import CONTEXT as DRAWN_CONTEXT
from figure_tables import table as drawn_table
from mentions import mentions, raises
from test_degenerate import CHANCE, full_rows, run_rows

from heuristic_core.config.claims import load_claims
from heuristic_core.config.figure import Figure
from heuristic_core.experiments.subnetworks.analysis.ablation_sets import list_ablations, make_joint_sets
from heuristic_core.experiments.subnetworks.analysis.claims import judge_claims
from heuristic_core.experiments.subnetworks.analysis.completeness_sets import (
    ALL_BUT_CORE,
    ALL_HEADS,
    SET_NAMES,
    control_role,
    make_completeness_sets,
)
from heuristic_core.experiments.subnetworks.analysis.statistics_completeness import (
    core_alone,
    stable_core_against_controls,
    stable_core_alone,
    stable_core_remaining,
)
from heuristic_core.experiments.subnetworks.figures import draw
from heuristic_core.experiments.subnetworks.figures.table3 import sheets
from heuristic_core.models.components import ComponentGrid
from heuristic_core.stats.estimates import DoesNotApply, FailedRuns, NotComputable, TooFewUnits
from heuristic_core.stats.verdicts import decide_verdict

GRID = ComponentGrid(4, 8)
EVERY = set(range(32))
CORE, STABLE = (1, 10, 11, 24), (1, 10, 11, 17, 24)


# ---- sets


def test_all_heads_but_the_core_s_are_ablated_and_random_ones_kept_in_their_place():
    sets = {item.name: item for item in make_completeness_sets(CORE, CORE, GRID, 5, 0)}
    of_all = sets[SET_NAMES[ALL_HEADS]]
    assert of_all.heads == tuple(range(32)) and of_all.role == ALL_HEADS
    assert set(sets[SET_NAMES[ALL_BUT_CORE]].heads) == EVERY - set(CORE)
    controls = [item for item in sets.values() if item.role == "control-all-but-core"]
    assert len(controls) == 5 == len(sets) - 2 and len({item.heads for item in controls}) == 5
    layers = Counter(head // 8 for head in CORE)
    assert all(Counter(head // 8 for head in EVERY - set(item.heads)) == layers for item in controls)
    assert all(tuple(sorted(EVERY - set(item.heads))) != CORE for item in controls)
    assert len({item.layers for item in sets.values() if "but" in item.role}) == 1


def test_the_kept_sets_are_those_that_are_ablated_as_controls_of_the_core():
    drops = dict.fromkeys(CORE, 0.0)
    joint = make_joint_sets(CORE, drops, GRID, control_draws=5, pair_control_draws=1, seed=3)
    alike = {item.heads for item in joint if item.role == "control" and item.layers == "0+1+1+3"}
    kept = make_completeness_sets(CORE, CORE, GRID, 5, 3)
    assert {tuple(sorted(EVERY - set(item.heads))) for item in kept if item.role.startswith("control")} == alike


def test_a_stable_core_of_its_own_is_ablated_and_kept_alone():
    sets = make_completeness_sets(CORE, STABLE, GRID, 5, 0)
    assert Counter(item.role for item in sets) == {
        "all-heads": 1, "all-but-core": 1, "control-all-but-core": 5, "stable-core": 1, "control-stable-core": 5,
        "all-but-stable-core": 1, "control-all-but-stable-core": 5,
    }  # fmt: skip
    by_role = {item.role: item for item in sets}
    assert by_role["stable-core"].heads == STABLE and by_role["stable-core"].layers == "0+1+1+2+3"
    assert set(by_role["all-but-stable-core"].heads) == EVERY - set(STABLE)
    assert by_role["control-stable-core"].layers == "0+1+1+2+3"
    assert len({item.name for item in sets}) == len(sets)
    kinds = Counter(kind for kind, _ in list_ablations(sets, ["mean", "zero"]))
    assert kinds == {"mean": len(sets)}


@pytest.mark.parametrize(("core", "stable"), [((), ()), (tuple(range(32)), ()), ((), tuple(range(32)))])
def test_no_core_and_a_core_of_all_heads_have_no_sets(core, stable):
    assert {item.role for item in make_completeness_sets(core, stable, GRID, 5, 0)} == {"all-heads"}


def test_a_core_of_one_head_has_the_others_of_its_layer():
    sets = make_completeness_sets((9,), (9,), GRID, 40, 0)
    kept = {(EVERY - set(item.heads)).pop() for item in sets if item.role == "control-all-but-core"}
    assert kept == {8, 10, 11, 12, 13, 14, 15}


# ---- claims


SINGLE = ablation("core", "0.0", 1, {None: ("id", -1.0)})  # of a study that ablated no more
NEW = (
    "stable-core-is-special",
    "core-suffices-in-domain",
    "stable-heads",
    "stable-core-is-complete",
    "stable-core-suffices-in-domain",
)


def set_rows(role, value, controls, group, column):
    """Rows of a set and of its random sets on a group."""
    rows = ablation(role, role, 2, {None: (group, value)})
    rows += [
        row for k, at in enumerate(controls) for row in ablation(f"control-{role}", f"{k}", 2, {None: (group, at)})
    ]
    return [row | {column: row["change"]} for row in rows]


def alone(core=80.0, controls=tuple(range(40)), none=33.0, in_core=(0, 4), **more):
    rows = set_rows("all-but-core", core, controls, "id", "accuracy")
    rows += [row | {"accuracy": none} for row in ablation("all-heads", "all heads", 8, {None: ("id", none - 90)})]
    sound = {"runs": run_rows(), "group_accuracy": list(full_rows())} | more
    return core_alone(evidence(ablations=rows, core=core_rows(set(in_core), set()), **sound), group="id")


def test_a_core_that_does_the_task_alone_suffices():
    result = alone()
    assert (result.value, result.opposite, result.n) == (pytest.approx(1 / 41), 1, 40)
    assert result.min_attainable_p == result.value and decide_verdict(result, "p < 0.05") == "supported"
    assert mentions(result.detail, "ID", 80.0, 33.0)
    assert decide_verdict(alone(core=40.0, controls=range(41, 81)), "p < 0.05") == "contradicted"
    assert decide_verdict(alone(controls=range(10)), "p < 0.05") == "too few"


def test_a_core_that_leaves_one_class_is_like_random_sets():
    """Of a model whose heads are nearly all ablated: it gives one class, whichever heads are left."""
    for core, controls in ((33.3, 33.3), (CHANCE, 20.0), (20.0, CHANCE)):  # the same class, or another one
        dead = alone(core=core, controls=[controls] * 40, none=33.3)
        assert (dead.value, dead.opposite) == (1, 1) and decide_verdict(dead, "p < 0.05") == "not clear"


def test_without_chance_nothing_is_said_of_the_core_alone():
    with raises(NotComputable, "chance"):
        alone(runs=[row | {"chance": None} for row in run_rows()])


def test_without_a_core_or_with_all_heads_in_it_nothing_is_compared():
    with raises(DoesNotApply, "core"):
        alone(in_core=())
    with raises(DoesNotApply, "core"):
        alone(in_core=range(8))
    with raises(NotComputable, SET_NAMES[ALL_BUT_CORE]):
        core_alone(evidence(ablations=SINGLE, core=core_rows({0}, set())), "id")
    with raises(NotComputable, "all-but-core"):
        alone(controls=())
    with pytest.raises(FailedRuns):
        alone(runs=run_rows(collapsed=True), group_accuracy=list(full_rows()))
    with raises(FailedRuns, 35.0, 33.3):
        alone(runs=run_rows(), group_accuracy=list(full_rows(id_=35.0)))


SELECTED = {"seeds": 4, "least": 3, "observed": 3, "expected": 0.2, "p": 0.001, "p_fewer": 1.0, "permutations": 999}


def stable(cost=-50.0, controls=tuple(-0.5 * k for k in range(40)), in_core=(0,), in_stable=(0, 4, 5), **selected):
    heads = [row | {"in_stable_core": row["component"] in in_stable} for row in core_rows(set(in_core), set())]
    rows = set_rows("stable-core", cost, controls, "j", "change")
    tables = {"ablations": rows, "core": heads, "stable_core": [SELECTED | selected]}
    return stable_core_against_controls(evidence(**tables), group="j")


def test_the_stable_core_is_compared_with_random_sets():
    result = stable()
    assert (result.value, result.opposite) == (pytest.approx(1 / 41), 1) and decide_verdict(
        result, "p < 0.05"
    ) == "supported"
    assert decide_verdict(stable(cost=3.0), "p < 0.05") == "contradicted"
    assert decide_verdict(stable(cost=0.0, controls=[0.0] * 40), "p < 0.05") == "not clear"


def test_a_stable_core_that_is_the_core_is_not_judged_again():
    with raises(DoesNotApply, "stable core"):
        stable(in_core=(0, 4, 5))
    with raises(DoesNotApply, "stable core"):
        stable(in_stable=(), observed=0)
    with raises(DoesNotApply, "stable core"):
        stable(in_stable=range(8), observed=8)
    with raises(TooFewUnits, 4, 3.6, 0.5):
        stable(least=None, reason="all 4 seeds share too many heads by chance: 3.6 on average, more than 0.5")


def completeness(in_core=(0,), in_stable=(0, 4, 5), left=2.0, **selected):
    """What is left without the stable core (J), and what its heads alone keep (ID, against 0 to 39 %)."""
    heads = [row | {"in_stable_core": row["component"] in in_stable} for row in core_rows(set(in_core), set())]
    rows = [row | {"accuracy": left, "low": left - 3, "high": left + 3, "unit": "example", "units": 900}
            for row in ablation("stable-core", "the stable core", 3, {None: ("j", left - 60)})]  # fmt: skip
    rows += set_rows("all-but-stable-core", 80.0, range(40), "id", "accuracy")
    rows += [row | {"accuracy": 33.0} for row in ablation("all-heads", "all heads", 8, {None: ("id", -57)})]
    tables = {"ablations": rows, "core": heads, "stable_core": [SELECTED | selected]}
    item = evidence(runs=run_rows(), group_accuracy=list(full_rows(j=60.0)), **tables)
    return stable_core_remaining(item, group="j"), stable_core_alone(item, group="id")


@pytest.mark.parametrize(("left", "verdict"), [(2.0, "supported"), (9.0, "not clear"), (40.0, "contradicted")])
def test_the_stable_core_is_complete_and_suffices(left, verdict):
    remaining, alone_result = completeness(left=left)
    assert (remaining.value, remaining.low, remaining.n) == (left, left - 3, 900)
    assert decide_verdict(remaining, "< 10 points") == verdict and mentions(remaining.detail, 60.0, left)
    assert alone_result.value == pytest.approx(1 / 41) and mentions(alone_result.detail, "ID", 80.0, 33.0)
    assert "-0.0" not in completeness(left=-0.04)[0].detail
    with raises(DoesNotApply, "stable core"):
        completeness(in_core=(0, 4, 5))
    with raises(TooFewUnits, 3.6):
        completeness(least=None, reason="3.6 on average")


def test_an_archive_of_before_has_no_verdict_on_the_stable_core():
    stated = [claim for claim in load_claims(CLAIMS) if claim.claim in NEW]
    tables = evidence(core=core_rows({0}, set()), ablations=SINGLE).tables
    new = [name for name in tables["core"] if "seed_share" in name or "stable" in name]
    result = judge_claims(CONTEXT, tables | {"core": tables["core"].drop(columns=new)}, stated)
    assert set(result["verdict"]) == {"not run"}


@pytest.mark.slow
@pytest.mark.sampled
def test_a_core_of_random_heads_rarely_suffices():
    """Heads whose worth adds up: which of them the core has is chance, so that few tests decide."""
    rng, count, grid = np.random.default_rng(43), amount(1000), ComponentGrid(2, 8)
    decided = 0
    for _ in range(count):
        worth, whole = (
            rng.exponential(size=16),
            tuple(sorted(int(head) for layer in (0, 8) for head in layer + rng.permutation(8)[:2])),
        )
        sets = make_completeness_sets(whole, whole, grid, 40, int(rng.integers(1 << 30)))
        value = {item.name: worth.sum() - worth[list(item.heads)].sum() for item in sets}
        controls = [value[item.name] for item in sets if item.role == "control-all-but-core"]
        result = alone(value[SET_NAMES[ALL_BUT_CORE]], controls, value[SET_NAMES[ALL_HEADS]])
        decided += decide_verdict(result, "p < 0.05") in ("supported", "contradicted")
    assert decided <= by_chance(count)


# ---- table 3


def test_table3_shows_what_the_core_leaves_alone():
    rows = [row for row in ablation_rows(np.random.default_rng(7)) if row["ft_seed"] == 1]
    single = [row for row in rows if row["ablation"] == "none" and row["kind"] == "mean"]
    for role, name, accuracy in (
        (ALL_BUT_CORE, SET_NAMES[ALL_BUT_CORE], 60.0),
        (control_role(ALL_BUT_CORE), f"control 1 of {SET_NAMES[ALL_BUT_CORE]}", 40.0),
        (control_role(ALL_BUT_CORE), f"control 2 of {SET_NAMES[ALL_BUT_CORE]}", 30.0),
        (ALL_HEADS, SET_NAMES[ALL_HEADS], 20.0),
    ):
        rows += [
            row | {"role": role, "ablation": name, "accuracy": accuracy, "change": accuracy - 90} for row in single
        ]
    marks = draw("table3", {"ablations": drawn_table("ablations", rows)}, Figure(), DRAWN_CONTEXT)[1]
    mean_accuracy = marks[(marks["kind"] == "mean") & (marks["column"] == "ID, mean")].set_index("row")["accuracy"]
    assert mean_accuracy[SET_NAMES[ALL_BUT_CORE]] == 60 and mean_accuracy[SET_NAMES[ALL_HEADS]] == 20
    (of_controls,) = (name for name in mean_accuracy.index if mentions(name, 2, SET_NAMES[ALL_BUT_CORE]))
    assert mean_accuracy[of_controls] == 35
    heads, larger, by_kind, _ = sheets(marks)
    assert SET_NAMES[ALL_HEADS] in [row[0] for row in larger.rows]
    assert "none" in [row[0] for row in heads.rows] and not {row[0] for row in heads.rows} & {
        row[0] for row in larger.rows
    }
    assert not [row for row in by_kind.rows if SET_NAMES[ALL_HEADS] in row[0]]  # of the first kind alone
