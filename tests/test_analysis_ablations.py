import numpy as np
import pandas as pd
import pytest

from heuristic_core.analysis.ablation_sets import AblationSet, set_table
from heuristic_core.analysis.ablations import ablations, paired_interval, single_ood_drops
from heuristic_core.analysis.frames import frame
from heuristic_core.components import Identity
from heuristic_core.tables import schema, write_table

MODEL = Identity("s", "m", "t", 1, 20)
SETS = [
    AblationSet("none", "none", ()),
    AblationSet("0.0", "core", (0,)),
    AblationSet("0.1", "core", (1,)),
    AblationSet("0.2", "non-core", (2,)),
    AblationSet("0.0+0.1", "pair", (0, 1)),
    AblationSet("control 1 of 0.0+0.1", "control", (2, 3), "0.0+0.1"),
]
# How many of 10 (id), 10 (ood_a) and 20 (ood_b) pairs are right.
RIGHT = {
    "none": (10, 8, 20),
    "0.0": (10, 6, 20),
    "0.1": (9, 7, 18),
    "0.2": (10, 9, 20),
    "0.0+0.1": (9, 2, 19),
    "control 1 of 0.0+0.1": (10, 8, 10),
}
SUBSETS = {"id_a": ("id", 10), "ood_a": ("ood", 10), "ood_b": ("ood", 20)}


def predictions(right=None):
    rows = []
    for ablation, counts in (right or RIGHT).items():
        for (name, (group, pairs)), count in zip(SUBSETS.items(), counts, strict=True):
            for example in range(pairs):
                row = MODEL._asdict() | {"ablation": ablation, "subset": name, "group": group, "example": example}
                rows.append(row | {"label": 1, "prediction": 1, "correct": example < count, "logits": [0.0]})
    return frame("ablation_predictions", rows)


def sets(chosen=SETS):
    return set_table(list(chosen), MODEL)


def by_cell(result, column):
    """(ablation, subset or group) -> value; nulls as None."""
    cells = zip(result["ablation"], result["subset"].fillna(result["group"]), result[column], strict=True)
    return {(ablation, where): None if pd.isna(value) else value for ablation, where, value in cells}


def test_accuracies_changes_and_groups(tmp_path):
    result = ablations(predictions(), sets())
    assert list(result.columns) == schema("ablations").names
    write_table("ablations", result, tmp_path / "ablations.parquet")
    assert list(dict.fromkeys(result["ablation"])) == [one.name for one in SETS]
    accuracy, change, n = (by_cell(result, column) for column in ("accuracy", "change", "n"))
    assert accuracy["none", "ood_a"] == 80 and accuracy["0.1", "ood_b"] == 90
    assert change["none", "id"] == 0
    assert change["0.0+0.1", "ood_a"] == pytest.approx(-60)
    # Groups: subsets weigh the same, not their pairs.
    assert accuracy["none", "ood"] == 90 and n["none", "ood"] == 30
    assert change["0.0+0.1", "ood"] == pytest.approx(-32.5)
    assert result.loc[result["subset"].isna(), "family"].isna().all()
    pair = result[result["ablation"] == "0.0+0.1"]
    assert set(pair["size"]) == {2} and set(pair["role"]) == {"pair"} and pair["matches"].isna().all()


def test_interaction_is_what_a_set_costs_beyond_its_heads():
    interaction = by_cell(ablations(predictions(), sets()), "interaction")
    assert interaction["0.0+0.1", "ood_a"] == pytest.approx(60 - (20 + 10))
    assert interaction["0.0+0.1", "ood_b"] == pytest.approx(5 - (0 + 10))
    assert interaction["0.0+0.1", "ood"] == pytest.approx(32.5 - (10 + 10))
    assert interaction["0.0+0.1", "id"] == pytest.approx(10 - (0 + 10))
    assert {ablation for (ablation, _), value in interaction.items() if value is not None} == {"0.0+0.1"}


def test_without_a_single_ablation_there_is_no_interaction():
    kept = [one for one in SETS if one.name != "0.1"]
    result = ablations(predictions({one.name: RIGHT[one.name] for one in kept}), sets(kept))
    assert result["interaction"].isna().all()


def test_group_means_over_chosen_subsets():
    result = ablations(predictions(), sets(), subsets=["id_a", "ood_b"])
    assert by_cell(result, "change")["0.0+0.1", "ood"] == pytest.approx(-5)
    assert by_cell(result, "n")["0.0+0.1", "ood"] == 20
    assert by_cell(result, "change")["0.0+0.1", "ood_a"] == pytest.approx(-60)


def test_controls_and_groups_have_no_interval():
    result = ablations(predictions(), sets(), bootstrap=50)
    without = (result["role"] == "control") | result["subset"].isna()
    assert result.loc[without, ["change_low", "change_high"]].isna().all(axis=None)
    inside = result[~without]
    assert (inside["change_low"] <= inside["change"] + 1e-9).all()
    assert (inside["change"] <= inside["change_high"] + 1e-9).all()
    assert inside.loc[inside["ablation"] == "none", ["change_low", "change_high"]].eq(0).all(axis=None)


def test_an_interval_does_not_depend_on_the_other_ablations():
    full = ablations(predictions(), sets())
    few = {name: RIGHT[name] for name in ("none", "0.1")}
    alone = ablations(predictions(few), sets(SETS[:1] + SETS[2:3]))
    same = full[full["ablation"].isin(few)].reset_index(drop=True)
    pd.testing.assert_frame_equal(alone, same)
    other = ablations(predictions(), sets(), seed=1)
    assert not other["change_low"].equals(full["change_low"])


def test_the_interval_against_resampling_pairs():
    rng = np.random.default_rng(0)
    ablated, full = rng.random(60) < 0.4, rng.random(60) < 0.7
    difference = ablated.astype(int) - full.astype(int)
    drawn = rng.integers(0, 60, size=(20_000, 60))
    expected = np.percentile(100 * difference[drawn].mean(axis=1), [2.5, 97.5])
    # Changes come in steps of 100 / 60 points; a percentile may fall on a neighbouring one.
    found = paired_interval(difference, 20_000, np.random.default_rng(1))
    assert found == pytest.approx(expected, abs=100 / 60 + 1e-9)
    assert found[0] < 100 * difference.mean() < found[1]


def test_single_drops_by_component_index():
    assert single_ood_drops(predictions(), sets()) == pytest.approx({0: 10, 1: 10, 2: -5})
    assert single_ood_drops(predictions(), sets(), ["ood_a"]) == pytest.approx({0: 20, 1: 10, 2: -10})


def test_incomplete_predictions_are_errors():
    table = predictions()
    with pytest.raises(ValueError, match="no predictions of ablation 'none'"):
        ablations(table[table["ablation"] != "none"], sets())
    first = table[(table["ablation"] == "0.0") & (table["subset"] == "ood_a")].index[0]
    with pytest.raises(ValueError, match=r"'0\.0' has predictions of 9 pairs of ood_a, 'none' of 10"):
        ablations(table.drop(first), sets())
    with pytest.raises(ValueError, match=r"no set is named '0\.1'"):
        ablations(table, sets([one for one in SETS if one.name != "0.1"]))


def test_predictions_of_other_pairs_are_an_error():
    table = predictions()
    table.loc[(table["ablation"] == "0.1") & (table["subset"] == "id_a") & (table["example"] == 0), "example"] = 99
    with pytest.raises(ValueError, match="lacks predictions of pairs of id_a"):
        ablations(table, sets())
