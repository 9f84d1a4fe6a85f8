from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heuristic_core.analysis.ablation_sets import joint_sets, set_table, single_sets
from heuristic_core.components import ComponentGrid, Identity
from heuristic_core.tables import read_table, schema, write_table

GRID = ComponentGrid(4, 8)
CORE = [GRID.index(name) for name in ("0.1", "1.2", "1.3", "3.0")]
DROPS = {GRID.index("0.1"): 5.0, GRID.index("1.2"): -1.0, GRID.index("1.3"): 9.0, GRID.index("3.0"): 2.0}


def test_single_sets_are_none_and_every_head():
    sets = single_sets(CORE, GRID)
    assert (sets[0].name, sets[0].role, sets[0].heads) == ("none", "none", ())
    assert [one.heads for one in sets[1:]] == [(head,) for head in range(32)]
    assert {one.name for one in sets if one.role == "core"} == {"0.1", "1.2", "1.3", "3.0"}
    assert Counter(one.role for one in sets) == {"none": 1, "core": 4, "non-core": 28}


def test_joint_sets_of_four_core_heads():
    sets = joint_sets(CORE, DROPS, GRID, control_draws=5, seed=0)
    chosen = {one.name: one for one in sets if one.role != "control"}
    pairs = ["0.1+1.2", "0.1+1.3", "0.1+3.0", "1.2+1.3", "1.2+3.0", "1.3+3.0"]
    assert list(chosen) == [*pairs, "0.1+1.3+3.0", "core-all"]
    assert [chosen[name].role for name in pairs] == ["pair"] * 6
    assert chosen["0.1+1.3+3.0"].role == "strongest"
    assert chosen["core-all"].heads == tuple(CORE)
    assert chosen["1.2+3.0"].heads == (GRID.index("1.2"), GRID.index("3.0"))
    controls = [one for one in sets if one.role == "control"]
    assert Counter(one.matches for one in controls) == {"0.1+1.3+3.0": 5, "core-all": 5}
    assert [one.name for one in controls if one.matches == "core-all"] == [
        f"control {k} of core-all" for k in range(1, 6)
    ]


def test_a_core_of_one_head_has_controls_in_its_layer():
    sets = joint_sets(CORE[:1], DROPS, GRID, control_draws=20, seed=0)
    assert {one.matches for one in sets} == {"0.1"}
    assert sorted(one.heads for one in sets) == [(head,) for head in range(8) if head != CORE[0]]


def test_pairs_have_controls_where_the_core_has_no_third_head():
    sets = joint_sets(CORE[:2], DROPS, GRID, control_draws=5, seed=0)
    assert [one.matches for one in sets if one.role == "control"] == ["0.1+1.2"] * 5


@pytest.mark.parametrize(
    ("size", "roles"),
    [(0, []), (2, ["pair"]), (3, ["pair"] * 3 + ["strongest"])],
)
def test_no_set_stands_twice(size, roles):
    sets = joint_sets(CORE[:size], DROPS, GRID, control_draws=0, seed=0)
    assert [one.role for one in sets] == roles


def test_equal_drops_go_by_the_order_of_heads():
    sets = joint_sets(CORE, dict.fromkeys(CORE, 1.0), GRID, control_draws=0, seed=0)
    assert [one.heads for one in sets if one.role == "strongest"] == [tuple(CORE[:3])]


@settings(max_examples=40, deadline=None)
@given(st.sets(st.integers(0, 11), max_size=6), st.integers(0, 12), st.integers(0, 3))
def test_controls_are_distinct_outside_the_core_and_matched_in_layers(core_heads, draws, seed):
    grid = ComponentGrid(3, 4)
    sets = joint_sets(sorted(core_heads), dict.fromkeys(core_heads, 0.0), grid, draws, seed)
    by_name = {one.name: one for one in [*single_sets(sorted(core_heads), grid), *sets]}
    assert len(by_name) == 13 + len(sets)

    def layers(heads):
        return Counter(head // 4 for head in heads)

    for one in sets:
        if one.role == "control":
            assert not set(one.heads) & core_heads
            assert list(one.heads) == sorted(set(one.heads))
            assert layers(one.heads) == layers(by_name[one.matches].heads)
        elif one.role != "pair" or len(core_heads) == 2:
            found = [control.heads for control in sets if control.matches == one.name]
            outside = combinations(sorted(set(range(12)) - core_heads), len(one.heads))
            possible = [heads for heads in outside if layers(heads) == layers(one.heads)]
            assert len(set(found)) == len(found) == min(draws, len(possible))


def test_controls_do_not_depend_on_the_other_sets():
    def controls(core_heads):
        sets = joint_sets(core_heads, DROPS, ComponentGrid(4, 8), control_draws=3, seed=1)
        return [one.heads for one in sets if one.matches == "0.1+3.0"]

    assert controls(CORE[::3]) == controls(CORE[::3])
    other = [
        one.heads for one in joint_sets(CORE[::3], DROPS, GRID, control_draws=3, seed=2) if one.matches == "0.1+3.0"
    ]
    assert controls(CORE[::3]) != other


def test_a_core_head_without_a_single_drop_is_an_error():
    with pytest.raises(ValueError, match=r"no single ablation of core head 3\.0"):
        joint_sets(CORE, {head: drop for head, drop in DROPS.items() if head != 24}, GRID, 1, 0)


def test_the_table_of_sets(tmp_path):
    sets = [*single_sets(CORE, GRID), *joint_sets(CORE, DROPS, GRID, control_draws=1, seed=0)]
    write_table("ablation_sets", set_table(sets, Identity("s", "m", "t", 3, 20)), tmp_path / "sets.parquet")
    result = read_table(tmp_path / "sets.parquet")
    assert list(result.columns) == schema("ablation_sets").names
    assert result["ablation"].tolist() == [one.name for one in sets]
    assert [tuple(heads) for heads in result["heads"]] == [one.heads for one in sets]
    assert set(result["ft_seed"]) == {3}
    assert result["matches"].notna().tolist() == [one.role == "control" for one in sets]
