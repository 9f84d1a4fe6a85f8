"""Stability selection over pruning seeds: its threshold, its table and the error rate of its test."""

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from amounts import amount, by_chance
from claim_tables import RUN, core_rows, evidence
from mentions import mentions, raises
from test_analysis_core import CELLS, WITH_EARLY, components
from test_degenerate import full_rows, run_rows

from heuristic_core.config.figure import Figure
from heuristic_core.experiments.subnetworks.analysis.core import compute_core
from heuristic_core.experiments.subnetworks.analysis.stability import (
    MAX_EXPECTED_BY_CHANCE,
    compute_error_bound,
    compute_expected_counts,
    compute_share_intervals,
    draw_stable_counts,
    find_threshold,
    select_stable_heads,
)
from heuristic_core.experiments.subnetworks.analysis.stable_core import compute_stable_core
from heuristic_core.experiments.subnetworks.analysis.statistics_completeness import stable_head_count
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.experiments.subnetworks.figures import draw
from heuristic_core.experiments.subnetworks.figures.table_core import sheets
from heuristic_core.models.components import ComponentGrid
from heuristic_core.stats.estimates import FailedRuns, TooFewUnits
from heuristic_core.stats.frames import make_frame
from heuristic_core.stats.verdicts import decide_verdict
from heuristic_core.tables.parquet import write_table
from heuristic_core.tables.schemas import get_schema

SEEDS = tuple(range(1, 13))
CONTEXT = Context(mid=0.4, high=0.7, last=30, seeds=SEEDS)
GRID = ComponentGrid(4, 8)


def random_masks(rng, seeds=12, layers=4, heads=8, least=1, most=4):
    """Masks of heads that are drawn at random within layers, each seed with its own number of heads in each layer."""
    ranks = rng.random((seeds, layers, heads)).argsort(axis=2)
    return ranks < rng.integers(least, most, (seeds, layers, 1), endpoint=True)


def component_rows(masks, mid=None):
    """Table "components" of high masks, bool [seeds, layers, heads], and mid masks, by default the same."""
    rows = []
    for sparsity, cell in ((0.7, masks), (0.4, masks if mid is None else mid)):
        for seed, mask in zip(SEEDS, cell, strict=False):
            kept = [*mask.ravel(), *[True] * GRID.layers]
            for c in GRID:
                about = {"component": c.index, "name": c.name, "kind": c.kind, "layer": c.layer, "head": c.head}
                row = RUN | about | {"step": 30, "sparsity": sparsity, "seed": seed, "repeat": 0}
                rows.append(row | {"actual_sparsity": sparsity, "kept": bool(kept[c.index]), "log_alpha": 0.0})
    return make_frame("components", rows)


# ---- the threshold


@pytest.mark.parametrize("kept", [[[1, 2], [2, 1]], [[1, 3], [1, 2], [2, 1]], [[0, 3], [2, 3], [1, 3]]])
def test_expected_counts_against_enumeration(kept):
    """Every way to place each seed's heads in each layer of three heads."""
    kept = np.array(kept)
    totals = np.zeros(len(kept) + 1)
    for layer in kept.T:
        placements = [*product(*(combinations(range(3), number) for number in layer))]
        for placed in placements:
            counts = np.bincount([head for mask in placed for head in mask], minlength=3)
            totals += (counts >= np.arange(len(totals))[:, None]).sum(axis=1) / len(placements)
    assert compute_expected_counts(np.arange(3) < kept[..., None]) == pytest.approx(totals)


def test_the_threshold_is_the_smallest_number_that_few_heads_reach_by_chance():
    masks = np.arange(4) < np.array([1, 2])[:, None, None]  # both seeds keep a head with probability 1/4 * 1/2
    assert compute_expected_counts(masks).tolist() == [4, 2.5, 0.5] and find_threshold(masks) == 2
    assert select_stable_heads(masks).tolist() == [[True, False, False, False]]
    more = np.arange(4) < np.array([2, 2])[:, None, None]
    assert find_threshold(more) is None and not select_stable_heads(more).any()


def test_a_layer_that_all_seeds_keep_whole_leaves_no_threshold():
    """Which of its heads are shared says nothing: all of them are, by chance as well."""
    masks = random_masks(np.random.default_rng(0))
    masks[:, 3] = True
    assert find_threshold(masks) is None


def test_draws_by_chance_have_the_exact_mean():
    masks = random_masks(np.random.default_rng(1))
    for least in (3, 5, 7):
        drawn = draw_stable_counts(masks, least, 4000, np.random.default_rng(least))
        error = drawn.std() / np.sqrt(len(drawn))
        assert abs(drawn.mean() - compute_expected_counts(masks)[least]) < 5 * max(error, 1e-3)


def test_the_bound_of_meinshausen_and_buhlmann():
    masks = np.zeros((10, 2, 5), bool)
    masks[:, :, :2] = True
    assert compute_error_bound(masks, 9) == pytest.approx(4**2 / ((2 * 0.9 - 1) * 10))
    assert compute_error_bound(masks, 5) is None and compute_error_bound(masks, 4) is None


def test_intervals_of_shares_are_wilsons():
    z, share = 1.959963984540054, 11 / 12
    middle, half = (share + z**2 / 24) / (1 + z**2 / 12), z * np.sqrt(share * (1 - share) / 12 + z**2 / 576)
    expected = [middle - half / (1 + z**2 / 12), middle + half / (1 + z**2 / 12)]
    assert compute_share_intervals(12)[11] == pytest.approx(expected)
    assert compute_share_intervals(12)[12][1] == 1 and compute_share_intervals(12)[0][0] == 0


# ---- tables


def brittle():
    """All 12 seeds keep head 0.1 at both sparsities, and head 1.1 is in 23 of the 24 subnetworks."""
    masks = random_masks(np.random.default_rng(2), most=2)
    masks[:, 0, 1] = masks[:, 1, 1] = True
    mid = masks.copy()
    masks[4, 1, 1] = False
    return component_rows(masks, mid)


def test_one_subnetwork_takes_a_head_from_the_core_and_not_from_the_stable_core(tmp_path):
    result = compute_core(brittle(), CONTEXT)
    write_table("core", result, tmp_path / "core.parquet")
    assert result.loc[result["in_core"], "name"].tolist() == ["0.1"]
    assert result.loc[result["in_stable_core"], "name"].tolist() == ["0.1", "1.1"]
    head = result.set_index("name").loc["1.1"]
    assert (head["mid"], head["high"], head["seed_share"]) == (12, 11, pytest.approx(11 / 12))
    assert (head["seed_share_low"], head["seed_share_high"]) == pytest.approx(tuple(compute_share_intervals(12)[11]))
    table = compute_stable_core(brittle(), CONTEXT, 500, 0)
    assert list(table.columns) == get_schema("stable_core").names
    write_table("stable_core", table, tmp_path / "stable_core.parquet")
    (row,) = table.to_dict("records")
    assert (row["n"], row["seeds"], row["heads"], row["observed"]) == (24, 12, 32, 2)
    assert 1 < row["least"] <= 11 and row["expected"] <= MAX_EXPECTED_BY_CHANCE and row["p"] == pytest.approx(1 / 501)


def test_two_sparsities_of_a_seed_are_one_piece_of_evidence():
    """Counted as subnetworks, nested masks would reach the threshold more easily."""
    masks = random_masks(np.random.default_rng(3))
    alone, nested = (
        compute_stable_core(rows, CONTEXT, 50, 0).iloc[0]
        for rows in (component_rows(masks), component_rows(masks, masks | 1))
    )
    assert (alone["least"], alone["observed"], alone["seeds"]) == (nested["least"], nested["observed"], 12)


def test_of_a_seed_with_a_failed_run_the_other_subnetwork_counts():
    table = brittle()
    without = table[(table["seed"] != 5) | (table["sparsity"] != 0.7)]  # the run that lacked head 1.1
    result = compute_core(without, CONTEXT).set_index("name")
    assert result.loc["1.1", "in_core"] and result.loc["1.1", "seed_share"] == 1
    assert compute_stable_core(without, CONTEXT, 50, 0)["n"].tolist() == [23]


def test_few_seeds_have_no_stable_core_and_say_so():
    result = compute_stable_core(components(CELLS), WITH_EARLY, 50, 0)
    (reason,) = result["reason"]
    assert mentions(reason, 2, 1, 0.5)
    assert result[["least", "observed", "p"]].isna().all(axis=None)
    assert not compute_core(components(CELLS), WITH_EARLY)["in_stable_core"].any()
    with raises(TooFewUnits, reason):
        stable_head_count(evidence(stable_core=[{"seeds": 2, "reason": reason}]))


def test_the_table_names_the_heads_of_the_core_and_of_the_stable_core():
    tables = {"core": compute_core(brittle(), CONTEXT), "stable_core": compute_stable_core(brittle(), CONTEXT, 500, 0)}
    tables["core_null"] = make_frame("core_null", [RUN | {"set": "mid+high", "n": 24, "seeds": 12, "observed": 1}])
    marks = draw("table_core", tables, Figure(), CONTEXT)[1]
    rows = {row[0]: row[1:] for row in sheets(marks)[1].rows}
    assert rows["core"][:2] == ["12 of 12", "1"] and rows["core"][-1] == "0.1"
    least = tables["stable_core"]["least"].iloc[0]
    assert rows["stable core"][:2] == [f"{least} of 12", "2"] and rows["stable core"][-2] == "≤ 0.002"
    assert rows["stable core"][-1] == "0.1 (100 %; 76 to 100), 1.1 (92 %; 65 to 99)"
    lacking = [name for name in tables["core"] if name.startswith(("seed_share", "in_stable"))]
    old = {"core_null": tables["core_null"], "core": tables["core"].drop(columns=lacking)}
    (sheet,) = sheets(draw("table_core", old, Figure(), CONTEXT)[1])  # the archive of an older version
    assert sheet.rows[0][:4] == ["mid+high", "24", "12", "1"]


# ---- the test


def test_seeds_whose_runs_collapsed_have_no_stable_heads_to_speak_of():
    row = {"seeds": 4, "least": 3, "observed": 5, "expected": 0.2, "p": 0.001, "p_fewer": 1.0, "permutations": 999}
    sound = {"stable_core": [row], "group_accuracy": [*full_rows()], "core": core_rows({0}, set())}
    assert decide_verdict(stable_head_count(evidence(**sound, runs=run_rows())), "p < 0.05") == "supported"
    with pytest.raises(FailedRuns):
        stable_head_count(evidence(**sound, runs=run_rows(collapsed=True)))


@pytest.mark.sampled
@pytest.mark.parametrize("most", [2, 5])
def test_masks_by_chance_are_rarely_stable(most):
    """Masks drawn within layers: few heads are selected, and few tests decide."""
    rng, count, draws = np.random.default_rng([41, most]), amount(1200), 200
    tests, selected = [], []
    for _ in range(count):
        masks = random_masks(rng, most=most)
        least = find_threshold(masks)
        assert least is not None
        selected.append((masks.sum(axis=0) >= least).sum())
        drawn = draw_stable_counts(masks, least, draws, rng)
        more, fewer = ((1 + (sign * drawn >= sign * selected[-1]).sum()) / (1 + draws) for sign in (1, -1))
        row = {"seeds": 12, "least": least, "observed": selected[-1], "expected": 0, "p": more, "p_fewer": fewer}
        tests.append(
            decide_verdict(stable_head_count(evidence(stable_core=[row | {"permutations": draws}])), "p < 0.05")
        )
    assert sum(test in ("supported", "contradicted") for test in tests) <= by_chance(count)
    assert np.mean(selected) <= MAX_EXPECTED_BY_CHANCE + 3 * np.std(selected) / np.sqrt(count)


def test_a_head_that_most_seeds_keep_is_selected_whatever_the_others():
    rng = np.random.default_rng(42)
    for _ in range(20):
        masks = random_masks(rng, most=2)
        masks[:, 2, 5] = rng.permutation(12) < 11
        assert select_stable_heads(masks)[2, 5]


def test_runs_draw_the_same_whatever_others_there_are():
    both = pd.concat([brittle(), brittle().assign(ft_seed=2)])
    result = compute_stable_core(both, CONTEXT, 100, 0)
    pd.testing.assert_frame_equal(
        result[result["ft_seed"] == 1].reset_index(drop=True), compute_stable_core(brittle(), CONTEXT, 100, 0)
    )
