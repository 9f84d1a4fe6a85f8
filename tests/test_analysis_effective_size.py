"""Effective size: its orders over seeds, sizes between two sparsities, and what is missing."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mentions import mentions
from size_curves import GRID, ONE, TWO, cell, curves, sizes, summary

from heuristic_core.experiments.subnetworks.analysis.size_states import classify_sizes
from heuristic_core.stats.bounds import compute_bounded_interval
from heuristic_core.tables.parquet import write_table
from heuristic_core.tables.schemas import get_schema


def test_the_three_orders(tmp_path):
    result = sizes(curves(90.0, TWO), [1, 2])
    assert list(result.columns) == get_schema("effective_size").names
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


def test_a_size_lies_where_the_line_between_two_sparsities_crosses_the_margin():
    result = sizes(curves(90.0, TWO), [1, 2], ONE)
    by_seed = result[result["seed"].notna()].set_index(["order", "seed"])["effective_size"].to_dict()
    # Seed 1 is faithful at the end of the grid; upward it falls from 88 at 0.1 to 86 at 0.3. Seed 2: 89 to 85.
    assert by_seed == pytest.approx(
        {("per-seed", 1): np.nan, ("per-seed", 2): 60.0, ("upward", 1): 80.0, ("upward", 2): 60.0}, nan_ok=True
    )
    assert summary(result, "mean-first") == pytest.approx(100 * (1 - 0.3 - 0.2 * 0.5 / 1))
    agreement = ONE.model_copy(update={"agreement": [0.95], "kl": [0.1], "recovery": [0.9]})
    rows = [*curves(90.0, {1: {0.1: 90.0, 0.3: 72.0}})]
    rows[-2] |= {"agreement": 100.0, "kl": 0.0}
    rows[-1] |= {"agreement": 75.0, "kl": 0.4}
    result = sizes(rows, [1], agreement).query("order == 'per-seed' and seed.isna()").set_index("criterion")
    assert result["effective_size"].to_dict() == pytest.approx(
        {"accuracy": 90 - 20 * 3 / 18, "recovery": 80.0, "agreement": 86.0, "kl": 85.0}
    )


def test_a_size_at_an_end_of_the_grid_is_a_bound_and_so_is_a_mean_with_it():
    """Seed 1 fails at once, seed 2 is faithful at the end, seed 3 in between: 90 at 0.2, 84 at 0.4."""
    by_seed = {1: {0.2: 84.0, 0.4: 84.0}, 2: {0.2: 90.0, 0.4: 90.0}, 3: {0.2: 90.0, 0.4: 84.0}}
    result = sizes(curves(90.0, by_seed), [1, 2, 3], ONE)
    here = result[result["order"] == "per-seed"]
    assert classify_sizes(here).tolist() == ["bounded", "bounded", "defined", "bounded"]
    assert here["effective_size"].isna().tolist() == [True, True, False, True] and here["sd"].isna().all()
    ends = [[80, 100], [0, 60], [70, 70], [50, 76 + 2 / 3]]
    assert here[["least", "most"]].values.tolist() == [pytest.approx(end) for end in ends]
    assert here["reason"].notna().tolist() == [True, True, False, True]
    for reason, bounds in zip(here["reason"].dropna(), [(80,), (60,), (50, 76.7)], strict=True):
        assert mentions(reason, "bounded", *bounds)
    assert summary(result, "mean-first") == pytest.approx(80 - 20 * 1 / 2)  # means: 88 at 0.2, 86 at 0.4
    rounded = sizes(curves(90.0, by_seed), [1, 2, 3], GRID).query("order == 'per-seed'")
    assert rounded["effective_size"].tolist() == [100, 60, 80, 80] and rounded["reason"].isna().all()
    assert rounded[["least", "most"]].values.tolist() == [[80, 100], [0, 60], [80, 80], pytest.approx([160 / 3, 80])]


def test_the_interval_of_a_size_is_where_the_intervals_of_changes_cross_the_margin():
    """89 at 0.2 and 85 at 0.4, each 1 point off at most: the line crosses 87 at 0.3, or at 0.25 and at 0.35."""
    seeds, curve = list(range(1, 7)), {0.2: 89.0, 0.4: 85.0, 0.6: 60.0}
    rows = list(curves(90.0, dict.fromkeys(seeds, curve)))
    for row in rows[1:]:
        change = row["accuracy"] - 90
        row |= {"change": change, "change_low": change - 1, "change_high": change + 1}
    seed_row, *_, mean_row = sizes(rows, seeds, ONE).query("order == 'per-seed'").to_dict("records")
    assert [seed_row[name] for name in ("effective_size", "low", "high")] == pytest.approx([70, 65, 75])
    assert (mean_row["low"], mean_row["high"]) == pytest.approx(compute_bounded_interval(*[np.full(6, 70.0)] * 2, 5))
    assert sizes(rows, seeds[:5], ONE)["low"].isna().iloc[-1]  # five seeds have no interval


def test_sizes_that_do_not_differ_differ_less_than_on_the_grid():
    """The range over checkpoints, where all that differs is noise of 0.4 points of accuracy at every sparsity."""
    rng, widths = np.random.default_rng(0), {}
    rows = []
    for step in range(1, 11):
        curve = {s: 90 - 3 * (s / 0.42) ** 2 + rng.normal(0, 0.4) for s in (0.2, 0.4, 0.6, 0.8)}
        rows += list(curves(90.0, {1: curve}, step=step))
    for analysis in (GRID, ONE):
        result = sizes(rows, [1], analysis, steps=tuple(range(1, 11))).query("order == 'per-seed' and seed.isna()")
        widths[analysis.effective_size] = result["effective_size"].max() - result["effective_size"].min()
    assert widths["grid"] >= 20 and widths["interpolated"] < 15


def test_a_failed_subnetwork_is_left_out():
    failed = {1: {0.1: 88.0, 0.3: 86.0, 0.5: None}, 2: TWO[2]}
    result = sizes(curves(90.0, failed), [1, 2])
    assert summary(result, "per-seed") == 80.0
    absent = {1: {0.1: 88.0, 0.3: 86.0}, 2: TWO[2]}
    pd.testing.assert_frame_equal(sizes(curves(90.0, absent), [1, 2]), result)


@pytest.mark.parametrize("analysis", [GRID, ONE])
def test_a_missing_subnetwork_is_skipped_in_all_orders(analysis):
    """The seed's grid has no such sparsity then, and the mean over seeds has none either."""
    curve, gapped_curve = {0.1: 88.0, 0.2: 89.5, 0.3: 86.0}, {0.1: 89.0, 0.2: None, 0.3: 88.0, 0.4: 80.0}
    result = sizes(curves(90.0, {1: curve | {0.4: 85.0}, 2: gapped_curve}), [1, 2], analysis)
    for order in ("per-seed", "upward"):
        by_seed = result[(result["order"] == order) & (result["seed"] == 2)]["effective_size"].item()
        assert by_seed == pytest.approx(70.0 if analysis is GRID else 100 * (1 - 0.3 - 0.1 * 1 / 8))
    # Means: 88.5 at 0.1, 87 at 0.3; the mean over one seed at 0.2 would be 89.5.
    expected = 90.0 if analysis is GRID else 100 * (1 - 0.1 - 0.2 * 1.5 / 1.5)
    assert summary(result, "mean-first") == pytest.approx(expected)


def test_a_missing_seed_has_a_row_with_a_reason():
    result = sizes(curves(90.0, {1: TWO[1]}), [1, 2])
    row = result[(result["seed"] == 2) & (result["order"] == "upward")].iloc[0]
    assert pd.isna(row["effective_size"])
    assert mentions(row["reason"], "missing", "seed 2")
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
    assert mentions(summary(result, "per-seed", "reason", step=20), "missing", 1, 2)
    # Seed 9 is not one of the curve: its sparsity does not count.
    assert mentions(summary(result, "mean-first", "reason", step=30), "missing", 0.1, 0.3)
    assert mentions(summary(result, "upward", "reason", step=40), "missing", "full model")
    assert result.loc[result["step"] != 10, "effective_size"].isna().all()
    assert classify_sizes(result).groupby(result["step"]).unique().map(list).to_dict() == {
        10: ["bounded", "defined"], 20: ["missing"], 30: ["missing"], 40: ["missing"]
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


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.dictionaries(st.integers(1, 19).map(lambda n: n / 20), st.integers(80, 95), min_size=1))
def test_the_orders_against_their_definitions(curve):
    result = sizes(curves(90.0, {1: {s: float(a) for s, a in curve.items()}}), [1])
    faithful = [s for s in curve if curve[s] > 87]
    reached = [s for s in curve if all(curve[t] > 87 for t in curve if t <= s)]
    assert summary(result, "per-seed") == pytest.approx(100 - 100 * max(faithful, default=0))
    assert summary(result, "upward") == pytest.approx(100 - 100 * max(reached, default=0))
    assert summary(result, "mean-first") == summary(result, "per-seed")
