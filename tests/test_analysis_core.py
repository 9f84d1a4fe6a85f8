import time
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from mentions import raises

from heuristic_core.experiments.subnetworks.analysis.core import (
    compute_core,
    compute_core_null,
    compute_head_frequency,
    draw_shared_counts,
    expected_over_all_heads,
)
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.models.components import ComponentGrid
from heuristic_core.stats.frames import make_frame
from heuristic_core.tables.parquet import write_table
from heuristic_core.tables.schemas import get_schema

GRID = ComponentGrid(2, 3)
CONTEXT = Context(mid=0.3, high=0.5, last=20, seeds=(1, 2), curve_seeds=(1,), margin=3.0)
WITH_EARLY = CONTEXT.model_copy(update={"early": 10, "early_seeds": (1, 3)})

# 0.0 and 1.2 are in every subnetwork at mid and high, and so is an MLP; 0.0 alone is in the early ones too.
# Seed 3 is none of the spread's, seed 2 none of the curve's.
CELLS = {
    (20, 0.3, 1): "0.0, 0.1, 1.2, 1.0, mlp 0",
    (20, 0.3, 2): "0.0, 0.2, 1.2, 1.0, mlp 0",
    (20, 0.5, 1): "0.0, 1.2, 0.1, mlp 0",
    (20, 0.5, 2): "0.0, 1.2, mlp 0",
    (20, 0.5, 3): "1.1",
    (20, 0.7, 1): "0.0",
    (20, 0.7, 2): "0.1",
    (10, 0.5, 1): "0.0, 1.2",
    (10, 0.5, 3): "0.0, 1.1",
}


def components(cells, ft_seed=1):
    """Table "components". cells: (step, sparsity, seed) -> names of the components kept."""
    rows = []
    for (step, sparsity, seed), kept in cells.items():
        run = {"study": "s", "model": "m", "task": "t", "ft_seed": ft_seed, "step": step}
        cell = {"sparsity": sparsity, "seed": seed, "repeat": 0, "actual_sparsity": sparsity}
        for c in GRID:
            about = {"component": c.index, "name": c.name, "kind": c.kind, "layer": c.layer, "head": c.head}
            rows.append(run | cell | about | {"kept": c.name in kept.split(", "), "log_alpha": 0.0})
    return make_frame("components", rows)


def counts(frequency, step, sparsity):
    rows = frequency[(frequency["step"] == step) & (frequency["sparsity"] == sparsity)]
    (n,) = rows["n"].unique()
    kept = rows[rows["count"] > 0]
    return n, dict(zip(kept["name"], kept["count"], strict=True))


def test_frequencies_use_the_seeds_of_each_cell(tmp_path):
    result = compute_head_frequency(components(CELLS), WITH_EARLY)
    assert list(result.columns) == get_schema("head_frequency").names
    write_table("head_frequency", result, tmp_path / "head_frequency.parquet")
    assert result["seed"].isna().all()
    assert len(result) == 4 * len(GRID)
    assert counts(result, 20, 0.3) == (2, {"0.0": 2, "0.1": 1, "0.2": 1, "1.0": 2, "1.2": 2, "mlp 0": 2})
    assert counts(result, 20, 0.5) == (2, {"0.0": 2, "0.1": 1, "1.2": 2, "mlp 0": 2})
    assert counts(result, 20, 0.7) == (1, {"0.0": 1})
    assert counts(result, 10, 0.5) == (2, {"0.0": 2, "1.1": 1, "1.2": 1})
    without_early = compute_head_frequency(components(CELLS), CONTEXT)
    assert counts(without_early, 10, 0.5) == (1, {"0.0": 1, "1.2": 1})


def test_the_core_is_what_every_mid_and_high_subnetwork_keeps(tmp_path):
    other_run = dict.fromkeys(CELLS, "0.1")
    result = compute_core(pd.concat([components(CELLS), components(other_run, ft_seed=2)]), WITH_EARLY)
    assert list(result.columns) == get_schema("core").names
    write_table("core", result, tmp_path / "core.parquet")
    in_core = result[result["in_core"]]
    assert list(zip(in_core["ft_seed"], in_core["name"], strict=True)) == [(1, "0.0"), (1, "1.2"), (2, "0.1")]
    first = result[result["ft_seed"] == 1].set_index("name")
    assert first.loc["mlp 0", ["mid", "high", "early"]].tolist() == [2, 2, 0]
    assert first.loc["1.2", ["mid", "high", "early"]].tolist() == [2, 2, 1]
    assert compute_core(components(CELLS), CONTEXT)["early"].isna().all()


def test_a_core_without_subnetworks_is_an_error():
    absent = components({cell: kept for cell, kept in CELLS.items() if cell[1] != 0.3})
    for analysis in (lambda: compute_core(absent, CONTEXT), lambda: compute_core_null(absent, CONTEXT, 10, 0)):
        with raises(ValueError, 20, 0.3, 1, 2):
            analysis()


def test_the_null_table_counts_heads_in_its_sets(tmp_path):
    result = compute_core_null(components(CELLS), WITH_EARLY, permutations=500, seed=7)
    assert list(result.columns) == get_schema("core_null").names
    write_table("core_null", result, tmp_path / "core_null.parquet")
    actual = result.set_index("set")[["n", "observed"]]
    assert dict(zip(actual.index, actual.itertuples(index=False, name=None), strict=True)) == {
        "high": (2, 2),
        "mid": (2, 3),
        "mid+high": (4, 2),
        "early": (2, 1),
        "early+mid+high": (6, 1),
    }
    # High: in layer 0, {0, 1} and {0} share one of three heads with chance 2/3; in layer 1, {2} and {2} with 1/3.
    high = result.set_index("set").loc["high"]
    assert high["expected"] == pytest.approx(1.0, abs=0.1)
    assert high["p"] == pytest.approx(2 / 9, abs=0.06)
    # Two seeds are one pair, whose overlap is what both share: 0, 1 or 2 heads, and never more than 2.
    assert (high["overlap"], high["p_fewer"]) == (2, 1) and high["expected_overlap"] == pytest.approx(1.0, abs=0.1)
    pd.testing.assert_frame_equal(compute_core_null(components(CELLS), WITH_EARLY, permutations=500, seed=7), result)
    assert set(compute_core_null(components(CELLS), CONTEXT, permutations=5, seed=7)["set"]) == {
        "high",
        "mid",
        "mid+high",
    }


def test_the_papers_expectation_is_beside_that_within_layers():
    assert f"{expected_over_all_heads(144, [0.7] * 12):.1e}" == "7.7e-05"  # as the paper prints it
    result = compute_core_null(components(CELLS), WITH_EARLY, permutations=5, seed=7).set_index("set")[
        "expected_over_all"
    ]
    assert result.to_dict() == pytest.approx(
        {
            "high": 6 * 0.5**2,
            "mid": 6 * 0.7**2,
            "mid+high": 6 * 0.7**2 * 0.5**2,
            "early": 6 * 0.5**2,
            "early+mid+high": 6 * 0.5**4 * 0.7**2,
        }
    )


def test_a_set_draws_the_same_whatever_other_runs_there_are():
    both = pd.concat([components(CELLS, ft_seed=0), components(CELLS, ft_seed=1)])
    result = compute_core_null(both, CONTEXT, permutations=200, seed=0)
    alone = compute_core_null(components(CELLS, ft_seed=1), CONTEXT, permutations=200, seed=0)
    pd.testing.assert_frame_equal(result[result["ft_seed"] == 1].reset_index(drop=True), alone)


def enumerated(kept_per_layer, heads):
    """The exact distribution of the number of shared heads: every way to place each layer's heads in each mask."""
    layers = []
    for layer in kept_per_layer.T:
        placements = product(*(combinations(range(heads), k) for k in layer))
        layers.append([len(set.intersection(*map(set, masks))) for masks in placements])
    totals = np.array([sum(parts) for parts in product(*layers)])
    return np.bincount(totals, minlength=1 + heads * kept_per_layer.shape[1]) / len(totals)


@pytest.mark.parametrize(
    ("heads", "kept_per_layer"),
    [(2, [[1, 1], [1, 2]]), (2, [[1, 0], [1, 2], [1, 1]]), (3, [[2, 1], [2, 3], [1, 2]])],
)
def test_the_null_against_exact_enumeration(heads, kept_per_layer):
    kept_per_layer = np.array(kept_per_layer)
    masks = np.arange(heads) < kept_per_layer[..., None]
    draws = draw_shared_counts(masks, 40_000, np.random.default_rng(0))
    exact = enumerated(kept_per_layer, heads)
    result = np.bincount(draws, minlength=len(exact)) / len(draws)
    # Five standard errors of a share over 40,000 draws; what cannot be is never drawn.
    assert np.abs(result - exact).max() < 5 * 0.5 / 200
    assert (result[exact == 0] == 0).all()


def test_the_null_against_permuting_every_mask():
    rng = np.random.default_rng(1)
    masks = rng.random((5, 4, 8)) < 0.75
    permuted = [rng.permuted(masks, axis=2).all(axis=0).sum() for _ in range(4000)]
    draws = draw_shared_counts(masks, 4000, rng)
    assert np.mean(draws) == pytest.approx(np.mean(permuted), abs=0.15)
    assert np.std(draws) == pytest.approx(np.std(permuted), abs=0.12)


def test_the_null_is_quick_at_the_size_of_bert():
    masks = np.random.default_rng(0).random((24, 12, 12)) < 0.5
    start = time.process_time()
    draws = draw_shared_counts(masks, 10_000, np.random.default_rng(0))
    assert draws.shape == (10_000,)
    assert time.process_time() - start < 3
