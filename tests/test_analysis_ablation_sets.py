from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mentions import mentions, raises

from heuristic_core.common.errors import InputError
from heuristic_core.experiments.subnetworks.analysis.ablation_sets import (
    AblationSet,
    assign_draws,
    compute_ablation_sets,
    list_ablations,
    make_joint_sets,
    make_single_sets,
    parse_ablation_sets,
)
from heuristic_core.models.components import ComponentGrid
from heuristic_core.tables.identity import Identity
from heuristic_core.tables.parquet import read_table, write_table
from heuristic_core.tables.schemas import get_schema

GRID = ComponentGrid(4, 8)
CORE = [GRID.index(name) for name in ("0.1", "1.2", "1.3", "3.0")]
DROPS = {GRID.index("0.1"): 5.0, GRID.index("1.2"): -1.0, GRID.index("1.3"): 9.0, GRID.index("3.0"): 2.0}


def select_role(sets, *roles):
    return [item for item in sets if item.role in roles]


def test_single_sets_are_none_and_every_head():
    sets = make_single_sets(CORE, GRID, user_sets=[(5, 9)])
    assert (sets[0].name, sets[0].role, sets[0].heads, sets[0].layers) == ("none", "none", (), "")
    assert [item.heads for item in sets[1:]] == [(head,) for head in range(32)]
    assert [item.layers for item in sets[1:]] == [str(head // 8) for head in range(32)]
    assert {item.name for item in select_role(sets, "core")} == {"0.1", "1.2", "1.3", "3.0"}
    assert Counter(item.role for item in sets) == {"none": 1, "core": 4, "non-core": 28}
    assert {item.name for item in sets if item.all_kinds} == {"none", "0.1", "1.2", "1.3", "3.0", "0.5", "1.1"}


def test_joint_sets_of_four_core_heads():
    sets = make_joint_sets(CORE, DROPS, GRID, control_draws=5, pair_control_draws=5, seed=0)
    result = {item.name: item for item in sets if item.role != "control"}
    pairs = {"0.1+1.2": "0+1", "0.1+1.3": "0+1", "0.1+3.0": "0+3", "1.2+1.3": "1+1", "1.2+3.0": "1+3", "1.3+3.0": "1+3"}
    assert list(result) == ["core-all", "0.1+1.3+3.0", *pairs]
    assert [(result[name].role, result[name].layers) for name in pairs] == [("pair", of) for of in pairs.values()]
    assert result["0.1+1.3+3.0"].role == "strongest"
    assert result["core-all"].heads == tuple(CORE) and result["core-all"].layers == "0+1+1+3"
    assert result["1.2+3.0"].heads == (GRID.index("1.2"), GRID.index("3.0"))
    controls = select_role(sets, "control")
    signatures = ["0+1+1+3", "0+1+3", "0+1", "0+3", "1+1", "1+3"]
    numbered = [(k, of) for of in signatures for k in range(1, 6)]
    assert all(mentions(control.name, *named) for control, named in zip(controls, numbered, strict=True))
    assert not any(control.all_kinds for control in controls)


def test_pairs_have_fewer_controls_than_the_whole_core():
    sets = select_role(make_joint_sets(CORE, DROPS, GRID, control_draws=6, pair_control_draws=2, seed=0), "control")
    assert [sum(item.layers == of for item in sets) for of in ("0+1+1+3", "0+1+3", "0+1", "1+1")] == [6, 6, 2, 2]


def test_controls_of_a_core_of_two_have_the_first_kind_only():
    sets = make_joint_sets(CORE[:2], DROPS, GRID, control_draws=5, pair_control_draws=5, seed=0)
    assert [(item.role, item.all_kinds) for item in sets] == [("pair", True), *[("control", False)] * 5]


@pytest.mark.parametrize(("size", "roles"), [(0, []), (1, []), (2, ["pair"]), (3, ["strongest"] + ["pair"] * 3)])
def test_no_set_stands_twice(size, roles):
    core = tuple(CORE[:size])
    sets = make_joint_sets(
        core, DROPS, GRID, control_draws=0, pair_control_draws=0, seed=0, user_sets=[core, core[:1]] if core else []
    )
    assert [item.role for item in sets] == roles


def test_equal_drops_go_by_the_order_of_heads():
    sets = make_joint_sets(CORE, dict.fromkeys(CORE, 1.0), GRID, control_draws=0, pair_control_draws=0, seed=0)
    assert [item.heads for item in select_role(sets, "strongest")] == [tuple(CORE[:3])]


def test_the_users_sets_are_named_by_head_and_have_controls():
    chosen = parse_ablation_sets([["2.5", "0.3", "2.5"], ["0.1", "1.2"]], GRID)
    assert chosen == [(3, 21), (1, 10)]
    sets = make_joint_sets(CORE, DROPS, GRID, control_draws=2, pair_control_draws=2, seed=0, user_sets=chosen)
    result = [(item.name, item.heads, item.layers) for item in select_role(sets, "chosen")]
    assert result == [("0.3+2.5", (3, 21), "0+2"), ("0.1+1.2", (1, 10), "0+1")]  # the latter, a core pair, occurs once
    assert [item.role for item in sets if item.heads == (1, 10)] == ["chosen"]
    controls = [item.name for item in sets if item.layers == "0+2"][1:]
    assert all(mentions(name, k, "0+2") for k, name in zip((1, 2), controls, strict=True))


@pytest.mark.parametrize("names", [["0.1", "4.0"], ["mlp 2"], ["0.8"]])
def test_an_unknown_head_is_named_with_those_there_are(names):
    with raises(InputError, "analysis.ablation_sets", repr(names[-1]), "0.0", "3.7"):
        parse_ablation_sets([["0.0"], names], GRID)
    with raises(InputError, "analysis.ablation_sets"):
        parse_ablation_sets([[]], GRID)


@settings(max_examples=40, deadline=None)
@given(st.sets(st.integers(0, 11), max_size=6), st.integers(0, 12), st.integers(0, 3))
def test_controls_are_distinct_of_all_heads_but_the_core_itself_and_matched_in_layers(core_heads, draws, seed):
    grid = ComponentGrid(3, 4)
    sets = make_joint_sets(sorted(core_heads), dict.fromkeys(core_heads, 0.0), grid, draws, draws, seed)
    names = {item.name for item in [*make_single_sets(sorted(core_heads), grid), *sets]}
    assert len(names) == 13 + len(sets)

    def layers(heads):
        return "+".join(str(head // 4) for head in heads)

    for item in sets:
        assert item.layers == layers(item.heads)
        assert list(item.heads) == sorted(set(item.heads))
        if item.role == "control":
            assert set(item.heads) != core_heads
        else:
            result = [control.heads for control in select_role(sets, "control") if control.layers == item.layers]
            every = combinations(range(12), len(item.heads))
            possible = [heads for heads in every if layers(heads) == item.layers and set(heads) != core_heads]
            assert len(set(result)) == len(result) == min(draws, len(possible))


def test_controls_do_not_depend_on_the_other_sets():
    def controls(core_heads, seed=1, **more):
        sets = make_joint_sets(core_heads, DROPS, GRID, control_draws=3, pair_control_draws=3, seed=seed, **more)
        return [item.heads for item in select_role(sets, "control") if item.layers == "0+3"]

    assert controls(CORE[::3]) == controls(CORE[::3], user_sets=[(5, 6, 7)])
    assert controls(CORE[::3]) != controls(CORE[::3], seed=2)


def test_a_core_head_without_a_single_drop_is_an_error():
    with raises(ValueError, "3.0"):
        make_joint_sets(CORE, {head: drop for head, drop in DROPS.items() if head != 24}, GRID, 1, 1, 0)


def test_resampled_sets_have_every_draw_and_controls_one_in_turn():
    single, pair = AblationSet("0.0", "core", (0,), "0"), AblationSet("0.0+0.1", "pair", (0, 1), "0+0")
    controls = [AblationSet(f"control {k} of layers 0", "control", (k,), "0") for k in (1, 2, 3, 4)]
    sets = [AblationSet("none", "none", (), ""), single, pair, *controls]
    drawn = [
        (kind, ablation_set.name, draw)
        for kind, ablation_set, draw in assign_draws(list_ablations(sets, ["mean", "resample"]), 3)
    ]
    assert drawn[: len(sets)] == [("mean", item.name, 0) for item in sets]
    resampled = [("none", 0), *((name, draw) for name in ("0.0", "0.0+0.1") for draw in range(3))]
    resampled += [(control.name, draw) for control, draw in zip(controls, (0, 1, 2, 0), strict=True)]
    assert [item[1:] for item in drawn[len(sets) :]] == resampled


def test_the_table_of_sets_has_some_of_them_in_every_kind(tmp_path):
    sets = [
        *make_single_sets(CORE, GRID),
        *make_joint_sets(CORE, DROPS, GRID, control_draws=1, pair_control_draws=1, seed=0),
    ]
    table = compute_ablation_sets(sets, ["zero", "mean"], Identity("s", "m", "t", 3, 20))
    write_table("ablation_sets", table, tmp_path / "sets.parquet")
    result = read_table(tmp_path / "sets.parquet")
    assert list(result.columns) == get_schema("ablation_sets").names
    zero, mean = (result[result["kind"] == kind] for kind in ("zero", "mean"))
    assert zero["ablation"].tolist() == [item.name for item in sets]
    assert [tuple(heads) for heads in zero["heads"]] == [item.heads for item in sets]
    assert Counter(mean["role"]) == {"none": 1, "core": 4, "pair": 6, "strongest": 1, "core-all": 1}
    assert [kind for kind, _ in list_ablations(sets, ["zero", "mean"])] == result["kind"].tolist()
