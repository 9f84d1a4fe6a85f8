"""The core's strongest three: are they chosen and tested fairly?"""

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from test_analysis_ablations import KINDS, MODEL

from heuristic_core.experiments.subnetworks.analysis.ablation_cells import read_by_model
from heuristic_core.experiments.subnetworks.analysis.ablation_sets import (
    compute_ablation_sets,
    make_joint_sets,
    make_single_sets,
    select_strongest,
)
from heuristic_core.experiments.subnetworks.analysis.ablations import compute_single_ood_drops
from heuristic_core.experiments.subnetworks.analysis.triples import choose_triples, compute_triples, mark_choosing_half
from heuristic_core.models.components import ComponentGrid
from heuristic_core.stats.frames import make_frame
from heuristic_core.tables.parquet import as_table, to_categorical_frame, write_table
from heuristic_core.tables.schemas import get_schema

GRID = ComponentGrid(4, 8)
CORE = (0, 1, 9, 17, 18, 25)
SINGLES = make_single_sets(CORE, GRID)


def test_the_core_and_random_sets_choose_their_triples_alike():
    drops = dict(enumerate(np.random.default_rng(0).normal(size=32)))
    result = choose_triples(CORE, drops, GRID, 20, seed=0)
    assert [item.role for item in result] == ["triple", *["control-triple"] * 20]
    assert result[0].heads == select_strongest(CORE, drops) and result[0].name == "triple"
    assert len({item.name for item in result}) == 21
    for item in result:
        assert item.layers == "+".join(str(head // 8) for head in item.heads) and not item.all_kinds
        assert all(item.layers.count(str(layer)) <= sum(head // 8 == layer for head in CORE) for layer in range(4))
    costs = [sum(drops[head] for head in item.heads) for item in result[1:]]
    assert np.mean(costs) > np.std(list(drops.values()))  # three of six, chosen; of three at random it would be near 0
    assert choose_triples(CORE, drops, GRID, 20, seed=0) == result
    assert choose_triples(CORE[:3], drops, GRID, 20, seed=0) == []


def rejected(cost_of_core: float, fair: bool, role: str = "strongest") -> float:
    """How often three heads, or all of the core, are found to cost more than controls' at 5 %.

    cost_of_core: how much more core heads cost than others, in standard deviations of these.

    Heads cost what they cost, measured with noise on either half of the pairs.
    """
    rng, result = np.random.default_rng(1), []
    for k in range(150):
        cost = rng.normal(size=32) + cost_of_core * np.isin(np.arange(32), CORE)
        on_one, on_other = cost + rng.normal(size=(2, 32))
        if fair:
            tested_set, *controls = choose_triples(CORE, dict(enumerate(on_one)), GRID, 20, seed=k)
            tested = on_other
        else:
            sets = make_joint_sets(CORE, dict(enumerate(on_one)), GRID, 20, 0, seed=k)
            tested_set = next(item for item in sets if item.role == role)
            controls = [item for item in sets if item.role == "control" and item.layers == tested_set.layers]
            tested = on_one
        costs = np.array([tested[list(control.heads)].sum() for control in controls])
        result.append((1 + (costs >= tested[list(tested_set.heads)].sum()).sum()) / (1 + len(costs)) <= 0.05)
    return np.mean(result)


def test_a_core_like_any_heads_is_rarely_special_if_controls_choose_too():
    assert rejected(0, fair=True) < 0.05 + 0.045
    assert rejected(0, fair=False) > 0.12  # the strongest three against random sets that nobody chose


def test_a_core_like_any_heads_is_rarely_special_as_a_whole():
    assert rejected(0, fair=False, role="core-all") < 0.05 + 0.045


def test_a_core_that_costs_more_is_special():
    """In four layers of eight heads, where random sets have some core heads, too."""
    assert rejected(3.0, fair=True) > 0.45


# ---- tables

SUBSETS = {"id_a": ("id", 40), "ood_a": ("ood", 40), "ood_b": ("ood", 80)}


def predictions(sets, right):
    """right: AblationSet -> bool [pairs] of a subset; templates t0 and t1 take turns, which parity alone would part."""
    rows = []
    for item in sets:
        for subset, (group, pairs) in SUBSETS.items():
            identity = MODEL._asdict() | {"kind": "mean", "ablation": item.name, "subset": subset, "group": group}
            for example, correct in enumerate(right(item, pairs)):
                scores = {"correct": correct, "correct_merged": correct, "log_odds": float(correct), "logits": [0.0]}
                rows.append(identity | {"example": example, "template": f"t{example % 2}"} | scores)
    return make_frame("ablation_predictions", rows)


def by_halves(ablation_set, pairs):
    """What heads cost on the half that chooses is nothing on the other."""
    first_half = np.arange(pairs) // 2 % 2 == 0  # within both templates
    return ~(first_half & (np.arange(pairs) % 5 < len(ablation_set.heads)))


def test_halves_divide_the_pairs_of_every_template_and_subset():
    table = predictions(SINGLES[:2], by_halves)
    chosen = table[mark_choosing_half(table)]
    counts = chosen.groupby(["ablation", "subset", "template"]).size()
    assert set(counts["none"]) == {10, 20} and len(counts) == 12
    assert (chosen["example"] // 2 % 2 == 0).all()
    alone = table.assign(template=table["example"].astype(str))  # a pair of each template
    assert mark_choosing_half(alone).mean() == 0.5
    assert mark_choosing_half(table.assign(template=None)).tolist() == (table["example"] % 2 == 0).tolist()


def test_seeds_whose_cores_differ_have_triples_of_their_own():
    """A head of one seed's core is another head in the other seed; a core of two has no triple."""
    drops = dict.fromkeys(range(32), 1.0)
    ours = [*SINGLES, *choose_triples(CORE, drops, GRID, 3, 0)]
    theirs = make_single_sets((0, 9), GRID)
    other = MODEL._replace(ft_seed=2)
    sets = pd.concat(
        [compute_ablation_sets(ours, ["mean"], MODEL), compute_ablation_sets(theirs, ["mean"], other)],
        ignore_index=True,
    )
    rows = pd.concat(
        [predictions(ours, by_halves), predictions(theirs, by_halves).assign(ft_seed=2)], ignore_index=True
    )
    scoring = {"subsets": None, "rule": "argmax-first", "bootstrap": 20, "seed": 0}
    result = compute_triples(rows, sets, **scoring)
    assert set(result["ft_seed"]) == {MODEL.ft_seed} != {2} and set(result["role"]) == {"triple", "control-triple"}
    alone = compute_triples(predictions(ours, by_halves), compute_ablation_sets(ours, ["mean"], MODEL), **scoring)
    pd.testing.assert_frame_equal(result.reset_index(drop=True), alone.reset_index(drop=True))
    assert compute_triples(rows[rows["ft_seed"] == 2], sets, **scoring).empty


def test_triples_are_tested_on_the_other_half(tmp_path):
    draft = predictions(SINGLES, by_halves)
    singles = compute_ablation_sets(SINGLES, KINDS[:1], MODEL)
    drops = compute_single_ood_drops(draft[mark_choosing_half(draft)], singles)
    assert list(drops.values()) == pytest.approx([20] * 32)
    sets = [*SINGLES, *make_joint_sets(CORE, drops, GRID, 2, 0, 0), *choose_triples(CORE, drops, GRID, 20, seed=0)]
    table = predictions(sets, by_halves)
    result = compute_triples(table, compute_ablation_sets(sets, KINDS, MODEL), None, "argmax-first", 50, 0)
    assert list(result.columns) == get_schema("triples").names
    write_table("triples", result, tmp_path / "triples.parquet")
    assert set(result["kind"]) == {"mean"}
    assert result.groupby("role")["ablation"].nunique().to_dict() == {"triple": 1, "control-triple": 20}
    assert (result["change"] == 0).all()  # all of the cost was on the half that chose
    triple_rows = result[(result["role"] == "triple") & result["subset"].isna()].set_index("group")
    assert triple_rows["n"].to_dict() == {"id": 20, "ood": 60}
    assert (
        triple_rows.loc["ood", "change_low"] < 0 < triple_rows.loc["ood", "change_high"]
        and triple_rows.loc["ood", "interaction"] == 0
    )
    assert result.loc[result["role"] == "control-triple", "change_low"].isna().all()
    small = [item for item in sets if "triple" not in item.role]
    assert compute_triples(table, compute_ablation_sets(small, KINDS, MODEL), None, "argmax-first", 50, 0).empty


def test_the_job_that_chooses_and_the_job_that_tests_have_the_same_halves(tmp_path):
    """Also where templates do not appear in alphabetical order, and subsets share them."""
    row = dict.fromkeys(get_schema("ablation_predictions").names) | {"kind": "mean", "group": "ood", "draw": 0}
    row |= {name: value for name, value in MODEL._asdict().items() if name in row}
    rows = [
        row | {"ablation": item, "subset": subset, "template": name, "example": k}
        for item in ("none", "0.0")
        for subset, names in (("s", "cabacbc"), ("r", "bbcacaa"))
        for k, name in enumerate(names)
    ]
    table = as_table("ablation_predictions", rows)
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=5)
    first = to_categorical_frame([table.slice(0, 14), table.slice(14)])
    chosen = [mark_choosing_half(first[first["subset"] == subset]).tolist() for subset in ("s", "r")]
    (cells,) = read_by_model(tmp_path / "rows.parquet").values()
    assert [mark_choosing_half(cell).tolist() for _, cell in cells] == chosen
    whole = mark_choosing_half(first)
    assert [whole[(first["subset"] == subset).to_numpy()].tolist() for subset in ("s", "r")] == chosen
    assert 6 <= sum(chosen[0]) <= 8
