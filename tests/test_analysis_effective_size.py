import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heuristic_core.analysis.effective_size import effective_size, state
from heuristic_core.analysis.frames import frame
from heuristic_core.config.analysis import Analysis
from heuristic_core.config.context import Context
from heuristic_core.tables.parquet import write_table
from heuristic_core.tables.schemas import schema

RUN = {"study": "s", "model": "m", "task": "t", "ft_seed": 1}
GRID = Analysis(margins=[3.0], recovery=[], effective_size="grid")
ONE = GRID.model_copy(update={"effective_size": "interpolated"})


def cell(step, sparsity, seed, repeat=0, column="accuracy", **subsets):
    """Rows of table "accuracy". subsets: group_name=value, the group before the first underscore."""
    for name, value in subsets.items():
        group = name.split("_")[0].replace("entailment", "ood-entailment")
        about = {"step": step, "sparsity": sparsity, "seed": seed, "repeat": repeat, "subset": name, "group": group}
        yield RUN | about | {column: value}


def curves(full, by_seed, step=10, name="id_a"):
    """The full model and, per seed, accuracies by sparsity, on one subset."""
    yield from cell(step, 0.0, None, **{name: full})
    for seed, curve in by_seed.items():
        for sparsity, value in curve.items():
            yield from cell(step, sparsity, seed, **{name: value})


def sizes(rows, seeds, analysis=GRID, steps=(10, 20, 30, 40), curve_repeat=0):
    """Table "effective_size". The steps and sparsities of the spread do not matter."""
    own = {"curve_seeds": tuple(seeds), "checkpoints": steps, "curve_repeat": curve_repeat}
    context = Context(mid=0.3, high=0.5, last=40, seeds=(1, 2), **own)
    return effective_size(frame("accuracy", list(rows)), analysis, context)


def summary(result, order, column="effective_size", step=10, group="id", **values):
    """One value of the only row of an order over all seeds."""
    rows = result[result["seed"].isna()]
    for key, value in ({"order": order, "step": step, "group": group} | values).items():
        rows = rows[rows[key] == value]
    (row,) = rows.to_dict("records")
    return row[column]


# Faithful above 87: seed 1 up to 0.1 and again at 0.5; seed 2 up to 0.3; their mean up to 0.3 (88, 87.5, 86.5).
TWO = {1: {0.1: 88.0, 0.3: 86.0, 0.5: 88.0}, 2: {0.1: 88.0, 0.3: 89.0, 0.5: 85.0}}


def test_the_three_orders(tmp_path):
    result = sizes(curves(90.0, TWO), [1, 2])
    assert list(result.columns) == schema("effective_size").names
    write_table("effective_size", result, tmp_path / "effective_size.parquet")
    by_seed = result[result["seed"].notna()].set_index(["order", "seed"])["effective_size"].to_dict()
    assert by_seed == {("per-seed", 1): 50.0, ("per-seed", 2): 70.0, ("upward", 1): 90.0, ("upward", 2): 70.0}
    assert {order: summary(result, order) for order in ("per-seed", "mean-first", "upward")} == {
        "per-seed": 60.0,
        "mean-first": 70.0,
        "upward": 80.0,
    }
    assert summary(result, "per-seed", "sd") == pytest.approx(200**0.5)
    assert pd.isna(summary(result, "mean-first", "sd"))
    assert set(result["full_accuracy"]) == {90.0}
    assert set(result["floor"]) == {50.0}
    assert result["reason"].isna().all()
    assert summary(result, "upward", "n_seeds") == 2


def test_exactly_at_the_margin_is_not_faithful():
    # A hair above 0.9, as a sum of floats may be, is not above it.
    result = sizes(curves(3.9, {1: {0.5: 0.3 + 0.6 + 1e-12}}), [1])
    assert summary(result, "per-seed") == 100.0
    result = sizes(curves(3.9, {1: {0.5: 0.91}}), [1])
    assert summary(result, "per-seed") == 50.0
    assert pd.isna(summary(result, "per-seed", "sd"))


def test_a_size_lies_where_the_line_between_two_sparsities_crosses_the_margin():
    result = sizes(curves(90.0, TWO), [1, 2], ONE)
    by_seed = result[result["seed"].notna()].set_index(["order", "seed"])["effective_size"].to_dict()
    # Seed 1 is faithful at the end of the grid; upward it falls from 88 at 0.1 to 86 at 0.3. Seed 2: 89 to 85.
    assert by_seed == pytest.approx(
        {("per-seed", 1): 50.0, ("per-seed", 2): 60.0, ("upward", 1): 80.0, ("upward", 2): 60.0}
    )
    assert summary(result, "mean-first") == pytest.approx(100 * (1 - 0.3 - 0.2 * 0.5 / 1))
    # From the full model on: 90 at no sparsity, 84 at 0.2.
    assert summary(sizes(curves(90.0, {1: {0.2: 84.0}}), [1], ONE), "per-seed") == pytest.approx(90.0)
    agreement = ONE.model_copy(update={"agreement": [0.95], "kl": [0.1], "recovery": [0.9]})
    rows = list(curves(90.0, {1: {0.2: 72.0}}))
    rows[-1] |= {"agreement": 75.0, "kl": 0.4}
    result = sizes(rows, [1], agreement).query("order == 'per-seed' and seed.isna()").set_index("criterion")
    assert result["effective_size"].to_dict() == pytest.approx(
        {"accuracy": 100 - 20 * 3 / 18, "recovery": 90.0, "agreement": 96.0, "kl": 95.0}
    )


def test_sizes_that_do_not_differ_differ_less_than_on_the_grid():
    """The range over checkpoints, where all that differs is noise of 0.4 points of accuracy at every sparsity."""
    rng, widths = np.random.default_rng(0), {}
    rows = []
    for step in range(1, 11):
        curve = {s: 90 - 3 * (s / 0.42) ** 2 + rng.normal(0, 0.4) for s in (0.2, 0.4, 0.6, 0.8)}
        rows += list(curves(90.0, {1: curve}, step=step))
    for analysis in (GRID, ONE):
        found = sizes(rows, [1], analysis, steps=tuple(range(1, 11))).query("order == 'per-seed' and seed.isna()")
        widths[analysis.effective_size] = found["effective_size"].max() - found["effective_size"].min()
    assert widths["grid"] >= 20 and widths["interpolated"] < 15


def test_undefined_where_the_full_model_is_not_surely_above_the_margin():
    """Just above it, subnetworks that get next to nothing right would be faithful."""
    rows = [row | {"low": row["accuracy"] - 1.5, "high": row["accuracy"] + 1.5} for row in curves(4.0, {1: {0.5: 1.2}})]
    found = sizes(rows, [1])
    assert summary(found, "per-seed") is None or np.isnan(summary(found, "per-seed"))
    reason = "undefined: the full model at 4.0 (from 2.5) % is not above the margin of 3 points"
    assert summary(found, "per-seed", "reason") == reason
    assert summary(sizes(curves(4.0, {1: {0.5: 1.2}}), [1]), "per-seed") == 50  # no interval: taken as it is


def test_undefined_where_the_full_model_is_at_the_floor():
    result = sizes(curves(2.04, TWO), [1, 2])
    assert result["effective_size"].isna().all()
    assert set(result["reason"]) == {"undefined: the full model at 2.0 % is not above the margin of 3 points"}
    assert set(state(result)) == {"undefined"}
    assert set(result["full_accuracy"]) == {2.04}


def test_a_failed_subnetwork_is_left_out():
    failed = {1: {0.1: 88.0, 0.3: 86.0, 0.5: None}, 2: TWO[2]}
    result = sizes(curves(90.0, failed), [1, 2])
    assert summary(result, "per-seed") == 80.0
    absent = {1: {0.1: 88.0, 0.3: 86.0}, 2: TWO[2]}
    pd.testing.assert_frame_equal(sizes(curves(90.0, absent), [1, 2]), result)


@pytest.mark.parametrize("analysis", [GRID, ONE])
def test_a_missing_subnetwork_is_skipped_in_all_orders(analysis):
    """The seed's grid has no such sparsity then, and the mean over seeds has none either."""
    one, other = {0.1: 88.0, 0.2: 89.5, 0.3: 86.0}, {0.1: 89.0, 0.2: None, 0.3: 88.0, 0.4: 80.0}
    found = sizes(curves(90.0, {1: one | {0.4: 85.0}, 2: other}), [1, 2], analysis)
    for order in ("per-seed", "upward"):
        by_seed = found[(found["order"] == order) & (found["seed"] == 2)]["effective_size"].item()
        assert by_seed == pytest.approx(70.0 if analysis is GRID else 100 * (1 - 0.3 - 0.1 * 1 / 8))
    # Means: 88.5 at 0.1, 87 at 0.3; the mean over one seed at 0.2 would be 89.5.
    expected = 90.0 if analysis is GRID else 100 * (1 - 0.1 - 0.2 * 1.5 / 1.5)
    assert summary(found, "mean-first") == pytest.approx(expected)


def test_a_missing_seed_has_a_row_with_a_reason():
    result = sizes(curves(90.0, {1: TWO[1]}), [1, 2])
    row = result[(result["seed"] == 2) & (result["order"] == "upward")].iloc[0]
    assert pd.isna(row["effective_size"])
    assert row["reason"] == "missing: no subnetworks of pruning seed 2"
    assert summary(result, "per-seed") == 50.0
    assert summary(result, "per-seed", "n_seeds") == 1


def test_missing_cells_have_a_reason():
    failed = {seed: dict.fromkeys(curve) for seed, curve in TWO.items()}
    rows = [
        *curves(90.0, TWO),
        *curves(90.0, failed, step=20),
        *curves(90.0, {1: {0.5: 89.0}, 9: {0.1: 89.0}}, step=30),
        *list(curves(90.0, TWO, step=40))[1:],
    ]
    result = sizes(rows, [1, 2])
    assert summary(result, "per-seed", "reason", step=20) == "missing: no subnetworks of pruning seeds 1, 2"
    # Seed 9 is not one of the curve: its sparsity does not count.
    assert summary(result, "mean-first", "reason", step=30) == "missing: no subnetworks at sparsity 0.1, 0.3"
    assert summary(result, "upward", "reason", step=40) == "missing: the full model was not evaluated"
    assert result.loc[result["step"] != 10, "effective_size"].isna().all()
    assert state(result).groupby(result["step"]).unique().map(list).to_dict() == {
        10: ["defined"], 20: ["missing"], 30: ["missing"], 40: ["missing"]
    }  # fmt: skip


def test_what_is_not_of_the_curve_does_not_count():
    rows = [
        *curves(90.0, TWO),
        *cell(10, 0.5, 2, repeat=1, id_a=90.0),
        *cell(20, 0.0, None, id_a=90.0),  # a step without subnetworks
        *curves(90.0, TWO, step=30),
    ]
    pd.testing.assert_frame_equal(sizes(rows, [1, 2], steps=(10, 20)), sizes(curves(90.0, TWO), [1, 2]))
    assert summary(sizes(rows, [2], steps=(10,), curve_repeat=1), "per-seed") == 50.0
    assert sizes(rows[:1], [1, 2]).empty


def test_the_floor_is_that_of_the_run_and_of_the_seeds_of_the_curve():
    other = [row | {"ft_seed": 2} for row in curves(90.0, {1: {0.3: 80.0}, 9: {0.9: 89.0}})]
    none = [row | {"ft_seed": 3} for row in curves(90.0, {9: {0.9: 89.0}})]
    result = sizes([*curves(90.0, TWO), *curves(2.0, {1: {0.1: 2.0}}, step=20), *other, *none], [1, 2])
    floors = result.groupby(["ft_seed", "step"])["floor"].unique().map(list).to_dict()
    assert floors[1, 10] == floors[1, 20] == [50.0]  # also where the size is undefined
    assert floors[2, 10] == [70.0]
    assert set(result["ft_seed"]) == {1, 2}


def test_groups_and_mixtures():
    rows = [
        *cell(10, 0.0, None, id_a=90.0, id_b=90.0, ood_c=60.0, entailment_d=99.0),
        *cell(10, 0.2, 1, id_a=90.0, id_b=90.0, ood_c=53.5, entailment_d=99.0),
        *cell(10, 0.4, 1, id_a=90.0, id_b=88.0, ood_c=40.0, entailment_d=99.0),
    ]
    result = sizes(rows, [1])
    by_group = {group: summary(result, "per-seed", group=group) for group in result["group"].unique()}
    # Mixed: 80 for the full model; 77.83 at 0.2 is within 3 points, 72.67 at 0.4 is not. 1:1: 75, 71.75 is not.
    assert by_group == {"id": 60.0, "ood": 100.0, "ood-entailment": 60.0, "mixed": 80.0, "mixed-1:1": 100.0, "j": 100.0}
    assert summary(result, "per-seed", "full_accuracy", group="mixed") == 80.0
    assert summary(result, "per-seed", "full_accuracy", group="mixed-1:1") == 75.0
    only_id = sizes(rows, [1], GRID.model_copy(update={"subsets": ["id_a", "id_b"]}))
    assert set(only_id["group"]) == {"id"}


def test_the_size_of_j():
    """90 + 60 - 100 = 50: at 0.2 OOD falls by 10 and J with it, at 0.4 OOD rises and the entailment class falls."""
    rows = [
        *cell(10, 0.0, None, ood_a=60.0, entailment_b=90.0),
        *cell(10, 0.2, 1, ood_a=58.0, entailment_b=90.0),
        *cell(10, 0.4, 1, ood_a=90.0, entailment_b=40.0),
    ]
    result = sizes(rows, [1], Analysis(margins=[3.0], effective_size="grid"))
    assert summary(result, "per-seed", group="ood", criterion="accuracy") == 60.0  # it rejects more pairs
    assert summary(result, "per-seed", group="j", criterion="accuracy") == 80.0
    assert summary(result, "per-seed", "full_accuracy", group="j", criterion="accuracy") == 50.0
    assert set(result.loc[result["group"] == "j", "criterion"]) == {"accuracy", "recovery"}
    at_floor = [row | {"accuracy": 100.0 * (row["group"] == "ood")} for row in rows]
    why = summary(sizes(at_floor, [1]), "per-seed", "reason", group="j")
    assert why == "undefined: the full model at 0.0 points is not above the margin of 3 points"


def test_the_criteria_and_their_thresholds():
    values = {"accuracy": (76.0, 78.0), "agreement": (96.0, 95.0), "kl": (0.1, 0.3)}
    rows = list(cell(10, 0.0, None, id_a=80.0, ood_b=3.5))
    for sparsity, *observed in zip((0.2, 0.4), *values.values(), strict=True):
        row = dict(zip(values, observed, strict=True))
        rows += [one | row for one in cell(10, sparsity, 1, id_a=None, ood_b=None)]
    analysis = GRID.model_copy(
        update={"margins": [1.0, 4.0, 4.5], "recovery": [0.95, 0.99], "agreement": [0.95, 0.96], "kl": [0.1]}
    )
    result = sizes(rows, [1], analysis)
    found = result[(result["order"] == "per-seed") & result["seed"].isna()]
    found = found.set_index(["group", "criterion", "threshold"])
    size, states = found["effective_size"], state(found)
    accuracy = {1.0: 100.0, 3.0: 60.0, 4.0: 60.0, 4.5: 60.0}
    assert size["id"]["accuracy"].to_dict() == accuracy
    # 95 % of 80 is 76 itself, which 0.2 reaches too; what counts is the largest faithful sparsity.
    assert size["id"]["recovery"].to_dict() == {95.0: 60.0, 99.0: 100.0}
    assert size["id"]["agreement"].to_dict() == {95.0: 60.0, 96.0: 80.0}
    assert size["id"]["kl"].to_dict() == {0.1: 80.0}
    # On OOD the full model scores 3.5: there is something to be faithful to in its words, if not in its accuracy.
    assert states["ood"]["accuracy"].to_dict() == {
        1.0: "defined", 3.0: "defined", 4.0: "undefined", 4.5: "undefined"
    }  # fmt: skip
    assert set(states["ood"]["recovery"]) == {"defined"} and set(states["ood"]["agreement"]) == {"defined"}
    less = analysis.model_copy(update={"margin": 3.5})
    of_recovery = sizes(rows, [1], less).query("criterion == 'recovery' and group == 'ood'")
    assert set(state(of_recovery)) == {"undefined"}


def test_without_predictions_there_are_only_criteria_of_accuracy():
    result = sizes(curves(90.0, TWO), [1, 2], Analysis())
    assert set(result["criterion"]) == {"accuracy", "recovery"}
    assert set(result.loc[result["criterion"] == "accuracy", "threshold"]) == {1.0, 2.0, 3.0, 4.0, 5.0}


@settings(max_examples=25, deadline=None)
@given(st.dictionaries(st.integers(1, 19).map(lambda n: n / 20), st.integers(80, 95), min_size=1))
def test_the_orders_against_their_definitions(curve):
    result = sizes(curves(90.0, {1: {s: float(a) for s, a in curve.items()}}), [1])
    faithful = [s for s in curve if curve[s] > 87]
    reached = [s for s in curve if all(curve[t] > 87 for t in curve if t <= s)]
    assert summary(result, "per-seed") == pytest.approx(100 - 100 * max(faithful, default=0))
    assert summary(result, "upward") == pytest.approx(100 - 100 * max(reached, default=0))
    assert summary(result, "mean-first") == summary(result, "per-seed")


def test_a_collapsed_subnetwork_is_never_faithful():
    """One that rejects every pair has all OOD pairs right, as figure 6 showed: faithful, and the smallest of all."""
    rows = list(curves(30.0, {1: {0.3: 29.0, 0.5: 100.0}, 2: {0.3: 29.0, 0.5: 100.0}}, name="ood_a"))
    context = Context(mid=0.3, high=0.5, last=10, seeds=(1, 2), curve_seeds=(1, 2), checkpoints=(10,))
    kept = {order: summary(sizes(rows, [1, 2]), order, group="ood") for order in ("per-seed", "mean-first", "upward")}
    assert set(kept.values()) == {50.0}

    def with_collapsed(*seeds):
        of_runs = [
            RUN | {"step": 10, "sparsity": s, "seed": seed, "repeat": 0, "collapsed": s == 0.5 and seed in seeds}
            for s in (0.3, 0.5)
            for seed in (1, 2)
        ]
        found = effective_size(frame("accuracy", rows), ONE, context, frame("runs", of_runs))
        return [summary(found, order, group="ood") for order in ("per-seed", "mean-first", "upward")]

    assert with_collapsed(1, 2) == [70.0, 70.0, 70.0]
    assert with_collapsed(2) == [60.0, 50.0, 60.0]
    assert with_collapsed() == [50.0, 50.0, 50.0]
