from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from mentions import raises

from heuristic_core.common.draws import numpy_generator
from heuristic_core.experiments.subnetworks.analysis.ablation_cells import read_by_model
from heuristic_core.experiments.subnetworks.analysis.ablation_sets import AblationSet, compute_ablation_sets
from heuristic_core.experiments.subnetworks.analysis.ablations import compute_ablations, compute_single_ood_drops
from heuristic_core.stats.bootstrap import Resamples, sum_interval, widen_change_interval
from heuristic_core.stats.frames import make_frame
from heuristic_core.tables.identity import Identity
from heuristic_core.tables.parquet import as_table, read_categorical, write_table
from heuristic_core.tables.schemas import get_schema

MODEL = Identity("s", "m", "t", 1, 20)
CONTROL = "control 1 of layers 0+0"
SETS = [
    AblationSet("none", "none", (), ""),
    AblationSet("0.0", "core", (0,), "0"),
    AblationSet("0.1", "core", (1,), "0"),
    AblationSet("0.2", "non-core", (2,), "0", all_kinds=False),
    AblationSet("0.0+0.1", "pair", (0, 1), "0+0"),
    AblationSet(CONTROL, "control", (2, 3), "0+0", all_kinds=False),
]
KINDS = ["mean", "zero"]
# How many of 10 (id), 10 (ood_a) and 20 (ood_b) pairs are right.
RIGHT = {
    "none": (10, 8, 20),
    "0.0": (10, 6, 20),
    "0.1": (9, 7, 18),
    "0.2": (10, 9, 20),
    "0.0+0.1": (9, 2, 19),
    CONTROL: (10, 8, 10),
}
ZERO = RIGHT | {"0.0+0.1": (9, 4, 19)}
SUBSETS = {"id_a": ("id", 10), "ood_a": ("ood", 10), "ood_b": ("ood", 20)}


def predictions(sets=SETS, templates=1):
    """The first pairs are right, in alternating templates; log odds are 1 where right, else -1, halved with "zero"."""
    rows = []
    for kind, right in zip(KINDS, (RIGHT, ZERO), strict=True):
        for item in (item for item in sets if item.all_kinds or kind == "mean"):
            for (name, (group, pairs)), count in zip(SUBSETS.items(), right[item.name], strict=True):
                identity = MODEL._asdict() | {"kind": kind, "ablation": item.name, "subset": name, "group": group}
                for example in range(pairs):
                    correct = example < count
                    log_odds = (1 if correct else -1) / (2 if kind == "zero" else 1)
                    scores = {"correct": correct, "correct_merged": example < 1, "log_odds": log_odds, "logits": [0.0]}
                    rows.append(
                        identity | {"draw": 0, "example": example, "template": f"t{example % templates}"} | scores
                    )
    return make_frame("ablation_predictions", rows)


def sets(chosen=SETS):
    return compute_ablation_sets(list(chosen), KINDS, MODEL)


def by_cell(result, column, kind="mean"):
    """(ablation, subset or group) -> value; nulls as None."""
    result = result[result["kind"] == kind]
    cells = zip(result["ablation"], result["subset"].fillna(result["group"]), result[column], strict=True)
    return {(ablation, where): None if pd.isna(value) else value for ablation, where, value in cells}


def test_accuracies_changes_and_groups(tmp_path):
    result = compute_ablations(predictions(), sets())
    assert list(result.columns) == get_schema("ablations").names
    write_table("ablations", result, tmp_path / "ablations.parquet")
    assert result.drop_duplicates(["kind", "ablation"])["ablation"].tolist() == sets()["ablation"].tolist()
    accuracy, change, n = (by_cell(result, column) for column in ("accuracy", "change", "n"))
    assert accuracy["none", "ood_a"] == 80 and accuracy["0.1", "ood_b"] == 90
    assert change["none", "id"] == 0
    assert change["0.0+0.1", "ood_a"] == pytest.approx(-60)
    # Groups: subsets weigh the same, not their pairs.
    assert accuracy["none", "ood"] == 90 and n["none", "ood"] == 30
    assert change["0.0+0.1", "ood"] == pytest.approx(-32.5)
    assert result.loc[result["subset"].isna(), "family"].isna().all()
    pair = result[result["ablation"] == "0.0+0.1"]
    assert set(pair["size"]) == {2} and set(pair["role"]) == {"pair"} and set(pair["layers"]) == {"0+0"}


def test_interaction_is_what_a_set_costs_beyond_its_heads_of_the_same_kind():
    result = compute_ablations(predictions(), sets())
    interaction = by_cell(result, "interaction")
    assert interaction["0.0+0.1", "ood_a"] == pytest.approx(60 - (20 + 10))
    assert interaction["0.0+0.1", "ood_b"] == pytest.approx(5 - (0 + 10))
    assert interaction["0.0+0.1", "ood"] == pytest.approx(32.5 - (10 + 10))
    assert interaction["0.0+0.1", "id"] == pytest.approx(10 - (0 + 10))
    assert {ablation for (ablation, _), value in interaction.items() if value is not None} == {"0.0+0.1"}
    assert by_cell(result, "interaction", "zero")["0.0+0.1", "ood_a"] == pytest.approx(40 - (20 + 10))
    # Log odds go from 1 to -1 with every pair that is lost: 0.02 nats for a point of accuracy, half that with "zero".
    for kind, nats in (("mean", 0.02), ("zero", 0.01)):
        points, of_log_odds = (by_cell(result, name, kind) for name in ("interaction", "log_odds_interaction"))
        assert of_log_odds["0.0+0.1", "ood"] == pytest.approx(nats * points["0.0+0.1", "ood"])
        points, of_log_odds = (by_cell(result, name, kind) for name in ("change", "log_odds_change"))
        assert {cell: nats * value for cell, value in points.items()} == pytest.approx(of_log_odds)


def test_draws_of_donors_are_averaged_and_pairs_remain_the_units():
    """Four draws of every set but "none" and the control, each right on other pairs, against their mean by hand."""
    single_draw = predictions()
    drawn = single_draw["ablation"].isin(["none", CONTROL])
    rng = np.random.default_rng(0)
    draws = [single_draw[drawn].assign(draw=0)]
    for draw in range(4):
        right = rng.random((~drawn).sum()) < 0.6
        odds = np.where(right, 1.0, -40.0 if draw == 3 else -1.0).astype(np.float32)  # beyond what counts
        draws.append(single_draw[~drawn].assign(draw=draw, correct=right, log_odds=odds))
    four = make_frame("ablation_predictions", pd.concat(draws))
    each = [make_frame("ablation_predictions", pd.concat([draws[0], part.assign(draw=0)])) for part in draws[1:]]
    result, apart = compute_ablations(four, sets()), [compute_ablations(part, sets()) for part in each]
    for column in ("accuracy", "change", "interaction", "log_odds_change", "log_odds_interaction"):
        expected = np.mean([part[column].to_numpy(float) for part in apart], axis=0)
        np.testing.assert_allclose(result[column].to_numpy(float), expected, atol=1e-4)
    assert result["n"].tolist() == apart[0]["n"].tolist()
    ood = result.query("subset == 'ood_b' and ablation == '0.0' and kind == 'mean'")
    shares = four.query("subset == 'ood_b' and ablation == '0.0' and kind == 'mean'").groupby("example")["correct"]
    assert ood["accuracy"].item() == pytest.approx(100 * shares.mean().mean())
    # An interval of a mean over draws is narrower than those of single draws.
    widths = [part["change_high"] - part["change_low"] for part in (result, *apart)]
    here = (result["ablation"] == "0.0") & (result["subset"] == "ood_b")
    assert widths[0][here].mean() < np.mean([width[here].mean() for width in widths[1:]])
    lacking = four.drop(four.query("subset == 'ood_b' and ablation == '0.1' and draw == 2").index[0])
    with raises(ValueError, "0.1", "ood_b"):
        compute_ablations(lacking, sets())


def test_without_a_single_ablation_there_is_no_interaction():
    kept = [item for item in SETS if item.name != "0.1"]
    result = compute_ablations(predictions(kept), sets(kept))
    assert result[["interaction", "interaction_low", "log_odds_interaction"]].isna().all(axis=None)


def test_group_means_over_chosen_subsets():
    result = compute_ablations(predictions(), sets(), subsets=["id_a", "ood_b"])
    assert by_cell(result, "change")["0.0+0.1", "ood"] == pytest.approx(-5)
    assert by_cell(result, "n")["0.0+0.1", "ood"] == 20
    assert by_cell(result, "change")["0.0+0.1", "ood_a"] == pytest.approx(-60)
    with raises(ValueError, "nowhere"):
        compute_ablations(predictions(), sets(), subsets=["nowhere"])


def test_the_class_rule_chooses_what_counts_as_correct():
    accuracy = by_cell(compute_ablations(predictions(), sets(), rule="merge-first"), "accuracy")
    assert {accuracy[name, "ood_a"] for name in RIGHT} == {10}


@pytest.mark.parametrize("templates", [1, 5])
def test_intervals_come_from_draws_shared_by_ablations_and_averaged_over_a_group(templates):
    """Every interval again, pair by pair from the draws of each subset."""
    result = compute_ablations(predictions(templates=templates), sets(), bootstrap=200, seed=3)
    draws, units = {}, {}
    for position, (subset, (group, pairs)) in enumerate(SUBSETS.items()):
        names = [f"t{example % templates}" for example in range(pairs)]
        resamples = Resamples(names, 200, numpy_generator(3, "bootstrap", subset, group))
        units[subset] = resamples.units
        for name, right in RIGHT.items():
            draws[name, subset] = resamples.means(100 * (np.arange(pairs) < right[position]))
    cells = {column: by_cell(result, column) for column in ("change", "interaction", "log_odds_interaction")}
    bounds = {f"{name}{end}": by_cell(result, f"{name}{end}") for name in cells for end in ("_low", "_high")}
    for where in (*SUBSETS, "ood"):
        parts = ["ood_a", "ood_b"] if where == "ood" else [where]
        sizes = [units[part] for part in parts]
        change = {name: [draws[name, part] - draws["none", part] for part in parts] for name in RIGHT}
        for name in RIGHT:
            expected = sum_interval(change[name], sizes, cells["change"][name, where])
            expected = (None, None) if name == CONTROL else widen_change_interval(*expected, sum(sizes), name != "none")
            actual = bounds["change_low"][name, where], bounds["change_high"][name, where]
            assert actual == pytest.approx(expected, abs=1e-9)
        interaction = [
            sum(each) - both for *each, both in zip(*(change[name] for name in ("0.0", "0.1", "0.0+0.1")), strict=True)
        ]
        drawn = np.array(sum_interval(interaction, sizes, cells["interaction"]["0.0+0.1", where]))
        actual = [bounds[f"interaction{end}"]["0.0+0.1", where] for end in ("_low", "_high")]
        assert actual == pytest.approx(widen_change_interval(*drawn, sum(sizes), 3), abs=1e-9)
        actual = [bounds[f"log_odds_interaction{end}"]["0.0+0.1", where] for end in ("_low", "_high")]
        assert actual == pytest.approx(0.02 * drawn, abs=1e-6)
    assert bounds["change_low"]["0.0", "ood_a"] < cells["change"]["0.0", "ood_a"] < 0


def test_an_interval_does_not_depend_on_the_other_ablations():
    full, few = compute_ablations(predictions(), sets()), [SETS[0], SETS[2]]
    alone = compute_ablations(predictions(few), sets(few))
    same = full[full["ablation"].isin([item.name for item in few])].reset_index(drop=True)
    pd.testing.assert_frame_equal(alone, same)
    other = compute_ablations(predictions(), sets(), seed=1)
    assert not other["change_low"].equals(full["change_low"])


def test_infinite_log_odds_count_as_thirty_nats():
    table = predictions()
    at = (table["kind"] == "mean") & (table["ablation"] == "0.0") & (table["subset"] == "ood_a")
    table.loc[at, "log_odds"] = [np.inf] * 5 + [-np.inf] * 5
    assert by_cell(compute_ablations(table, sets()), "log_odds_change")["0.0", "ood_a"] == pytest.approx(0 - 0.6)
    table.loc[at, "log_odds"] = np.inf
    assert by_cell(compute_ablations(table, sets()), "log_odds_change")["0.0", "ood_a"] == pytest.approx(30 - 0.6)


def test_names_may_be_categories():
    """As the rule reads them, to save memory."""
    table = predictions()
    names = ["study", "kind", "ablation", "subset", "group", "family", "template"]
    pd.testing.assert_frame_equal(
        compute_ablations(table.astype(dict.fromkeys(names, "category")), sets()), compute_ablations(table, sets())
    )


def test_j_and_auc_have_changes_and_interactions_of_their_own():
    """With the first OOD subset in the part of the entailment class."""
    table = predictions()
    table["group"] = table["group"].astype(str).where(table["subset"] != "ood_a", "ood-entailment")
    result = compute_ablations(table, sets(), bootstrap=200)
    accuracy, change, interaction = (by_cell(result, name) for name in ("accuracy", "change", "interaction"))
    for name in RIGHT:
        ood_accuracies = [accuracy[name, subset] for subset in ("ood_a", "ood_b")]
        assert accuracy[name, "j"] == pytest.approx(sum(ood_accuracies) - 100)
        # Log odds are 1 or -1: a pair of pairs is in the right order, tied if one of them is right, or in the wrong.
        assert accuracy[name, "auc"] == pytest.approx(sum(ood_accuracies) / 2)
    assert change["0.0+0.1", "j"] == pytest.approx(-60 - 5)
    assert interaction["0.0+0.1", "j"] == pytest.approx(65 - (20 + 0) - (10 + 10))
    assert interaction["0.0+0.1", "auc"] == pytest.approx(interaction["0.0+0.1", "j"] / 2)
    rows = result[result["group"].isin(["j", "auc"]) & (result["kind"] == "mean")].set_index(["ablation", "group"])
    pair = rows.loc["0.0+0.1"]
    assert (pair["interaction_low"] < pair["interaction"]).all() and (
        pair["interaction"] < pair["interaction_high"]
    ).all()
    assert rows.loc[CONTROL, ["change_low", "interaction_low"]].isna().all(axis=None)
    assert rows["log_odds_change"].isna().all() and (rows["n"] == 30).all()


def test_a_kind_of_some_pairs_is_compared_with_none_of_its_own_pairs():
    """Counterfactual ablation of half of the pairs of ood_a and of no pair of id_a, beside kinds of all pairs."""
    whole = predictions()
    of_kind = whole[(whole["kind"] == "mean") & (whole["subset"] != "id_a")]
    of_kind = of_kind[(of_kind["subset"] != "ood_a") | (of_kind["example"] % 2 == 0)].assign(kind="counterfactual")
    named = compute_ablation_sets(SETS, [*KINDS, "counterfactual"], MODEL)
    of_kind = of_kind[of_kind["ablation"].isin(named.loc[named["kind"] == "counterfactual", "ablation"])]
    both = compute_ablations(make_frame("ablation_predictions", pd.concat([whole, of_kind])), named)
    others = both[both["kind"] != "counterfactual"].reset_index(drop=True)
    pd.testing.assert_frame_equal(others, compute_ablations(whole, sets()))
    accuracy, change, n = (by_cell(both, column, "counterfactual") for column in ("accuracy", "change", "n"))
    assert n["none", "ood_a"] == 5 and n["none", "ood_b"] == 20 and n["none", "ood"] == 25
    assert ("none", "id_a") not in n and ("none", "id") not in n
    # Of 10 pairs the first 8 are right, the first 2 without both heads: of the 5 with even numbers, 4 and 1.
    assert accuracy["none", "ood_a"] == 80 and change["0.0+0.1", "ood_a"] == pytest.approx(-60)
    assert change["0.0+0.1", "ood"] == pytest.approx((-60 - 5) / 2)
    with raises(ValueError, "zero", "id_a"):
        compute_ablations(whole[(whole["kind"] != "zero") | (whole["subset"] != "id_a")], sets())


def test_single_drops_by_component_index():
    mean, table = sets()[lambda s: s["kind"] == "mean"], predictions()[lambda p: p["kind"] == "mean"]
    assert compute_single_ood_drops(table, mean) == pytest.approx({0: 10, 1: 10, 2: -5})
    assert compute_single_ood_drops(table, mean, ["ood_a"]) == pytest.approx({0: 20, 1: 10, 2: -10})


def test_incomplete_predictions_are_errors():
    table = predictions()
    with raises(ValueError, "0.0", 10, "id_a", "none", 0):
        compute_ablations(table[(table["ablation"] != "none") | (table["kind"] != "mean")], sets())
    with raises(ValueError, "none", "mean"):
        compute_ablations(table, sets(SETS[1:]))
    first = table[(table["ablation"] == "0.0") & (table["subset"] == "ood_a")].index[0]
    with raises(ValueError, "0.0", 9, "ood_a", "none", 10):
        compute_ablations(table.drop(first), sets())
    with raises(ValueError, "0.1"):
        compute_ablations(table, sets([item for item in SETS if item.name != "0.1"]))


def test_predictions_of_other_pairs_are_an_error():
    table = predictions()
    table.loc[(table["ablation"] == "0.1") & (table["subset"] == "id_a") & (table["example"] == 0), "example"] = 99
    with raises(ValueError, "0.1", "id_a"):
        compute_ablations(table, sets())


def test_a_file_read_in_parts_gives_what_a_frame_gives(tmp_path):
    """To the byte, though ablations and subsets are cut by row groups, and so do the strongest three heads."""
    rows = predictions(templates=3)
    pq.write_table(as_table("ablation_predictions", rows), path := tmp_path / "rows.parquet", row_group_size=7)
    coded = compute_ablations(read_categorical(path, rows.columns.drop("logits")), sets())
    parts = read_by_model(path)
    pd.testing.assert_frame_equal(compute_ablations(parts, sets()), coded, check_exact=True)
    once = {model: replace(cells, drop_after_read=True) for model, cells in parts.items()}
    pd.testing.assert_frame_equal(compute_ablations(once, sets()), coded, check_exact=True)
    with pytest.raises(ValueError):
        compute_ablations(parts, sets())
