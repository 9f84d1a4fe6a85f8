"""Random subnetworks, and learned ones compared with controls."""

import numpy as np
import pandas as pd
import pytest
from amounts import amount, least_held
from scipy import stats

from heuristic_core.common.draws import numpy_generator
from heuristic_core.data.sampling import sample_subset
from heuristic_core.experiments.subnetworks.analysis.controls import (
    compute_controls,
    draw_pairs,
    permute_heads,
)
from heuristic_core.experiments.subnetworks.config.analysis import Analysis
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.interventions import evaluate
from heuristic_core.models.components import ComponentGrid
from heuristic_core.stats.frames import make_frame
from heuristic_core.stats.means import mean_interval, widen
from heuristic_core.tables.identity import Identity
from heuristic_core.tables.parquet import as_frame, as_table, write_table
from heuristic_core.tables.schemas import get_schema

SEEDS = (42, 43, 44)
RUN = {"study": "s", "model": "m", "task": "t", "ft_seed": 1, "step": 20, "repeat": 0}
CELL = {**RUN, "sparsity": 0.3, "seed": 42}
GROUPS = {"a": "ood", "b": "ood", "c": "id"}


def test_a_permutation_keeps_the_counts_of_every_layer_and_the_mlps():
    grid, kept = ComponentGrid(3, 4), [0, 2, 3, 8, 12, 14]
    draws = [permute_heads(kept, grid, numpy_generator(0, "random subnetwork", seed)) for seed in range(200)]
    for result in draws:
        assert result == sorted(set(result)) and result[4:] == [12, 14]
        assert [head // 4 for head in result[:4]] == [0, 0, 0, 2]
    assert {result[3] for result in draws} == {8, 9, 10, 11}
    assert {tuple(result[:3]) for result in draws} == {(0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3)}


CONTEXT = Context(mid=0.3, high=0.5, last=20, seeds=SEEDS, curve_seeds=SEEDS)
ENDS = ["difference", "difference_low", "difference_high"]


def learned_right(learned):
    """learned: percent by subset, one value per pruning seed, None for a failed run -> as :func:`predictions` wants."""
    by_seed = {}
    for subset, values in learned.items():
        for seed, value in zip(SEEDS, values, strict=True):
            if value is not None:
                by_seed.setdefault(seed, {})[subset] = int(value / 10)
    return by_seed


def compared(learned, right=None, subsets=None, runs=None, **scored):
    rows = predictions({"learned": learned_right(learned)} | (right or RIGHT))
    return compute_controls(draw_pairs(rows, **scored), Analysis(subsets=subsets), runs, CONTEXT)


def predictions(right):
    """right: control -> seed -> subset -> how many of 10 pairs."""
    rows = []
    for control, by_seed in right.items():
        for seed, by_subset in by_seed.items():
            for subset, count in by_subset.items():
                row = RUN | {"sparsity": 0.3, "seed": seed, "control": control, "subset": subset, "logits": [0.0]}
                row |= {"group": GROUPS[subset], "correct_merged": False}
                rows += [row | {"example": k, "correct": k < count} for k in range(10)]
    return make_frame("control_predictions", rows)


RIGHT = {
    "random": {42: {"a": 5, "b": 1}, 43: {"a": 3, "b": 1}, 44: {"a": 4, "b": 1}},
    "importance": {0: {"a": 2, "b": 4}},
}
LEARNED = {"a": [90.0, 70.0, 80.0], "b": [50.0, 40.0, 60.0]}


def row(result, control, subset):
    at = result["subset"].isna() if subset is None else result["subset"] == subset
    return result[at & (result["control"] == control)].iloc[0]


def two_way(values, pairs):
    """Mean and ends: over seeds, and the half width over pairs, added as squares; equal seeds have none."""
    mean, low, high = mean_interval(values)
    return pytest.approx([mean, *widen(mean, low, high, pairs)], nan_ok=True)


def test_differences_are_paired_by_pruning_seed(tmp_path):
    result = compared(LEARNED)
    assert list(result.columns) == get_schema("controls").names
    write_table("controls", result, tmp_path / "controls.parquet")
    assert len(result) == 3 * 3  # a, b and their mean
    assert row(result, "learned", "a")[["n", "accuracy", "sd"]].tolist() == [3, 80, 10]
    assert row(result, "learned", "a")[ENDS].isna().all()
    assert row(result, "random", "a")[["n", "accuracy", "sd"]].tolist() == [3, 40, 10]
    importance = row(result, "importance", None)
    assert importance["n"] == 1 and importance["accuracy"] == 30 and pd.isna(importance["sd"])
    for control, subset, values in (
        ("random", "a", [40, 40, 40]), ("random", "b", [40, 30, 50]), ("random", None, [40, 35, 45]),
        ("importance", None, [40, 25, 40]),
    ):  # fmt: skip
        actual = row(result, control, subset)
        assert actual["pair_half_width"] > 0 and actual[ENDS].tolist() == two_way(values, actual["pair_half_width"])
    by_pair = np.mean(
        [
            100.0 * ((np.arange(10) < right) & (np.arange(10) >= of_random))
            for right, of_random in ((9, 5), (7, 3), (8, 4))
        ],
        axis=0,
    )
    half = stats.t.ppf(0.975, 9) * by_pair.std(ddof=1) / np.sqrt(10)
    assert row(result, "random", "a")["pair_half_width"] == pytest.approx(half, rel=0.1)
    halves = [row(result, "random", subset)["pair_half_width"] for subset in ("a", "b", None)]
    assert halves[2] == pytest.approx(np.hypot(*halves[:2]) / 2, rel=0.1)  # of a mean over subsets with their own pairs
    assert row(compared(LEARNED, rule="merge-first"), "random", "a")["accuracy"] == 0


def test_a_failed_run_is_left_out_and_groups_are_of_chosen_subsets():
    failed = {"a": [90.0, None, 80.0], "b": [50.0, None, 60.0]}
    there = {"random": {seed: right for seed, right in RIGHT["random"].items() if seed != 43}}
    result = compared(failed, RIGHT | there)
    assert {row(result, control, subset)["n"] for control in ("learned", "random") for subset in ("a", None)} == {2}
    assert row(result, "random", None)["difference"] == pytest.approx((40 + 45) / 2)
    assert row(result, "importance", "a")["difference"] == pytest.approx(85 - 20)
    chosen = compared(LEARNED, subsets=["b"])
    assert row(chosen, "learned", None)["accuracy"] == 50 and row(chosen, "random", "a")["n"] == 3


def test_faulty_runs_are_left_out_and_counted():
    """Seed 43 collapsed, and so does what has its shape; seed 0 is that of importance, no pruning seed."""
    runs = pd.DataFrame([RUN | {"sparsity": 0.3, "seed": seed} for seed in (*SEEDS, 0)])
    runs = runs.assign(actual_sparsity=0.3, missed=False, collapsed=runs["seed"].isin([43, 0]))
    result = compared(LEARNED, runs=runs)
    of_learned, of_random, of_importance = (
        row(result, control, "a") for control in ("learned", "random", "importance")
    )
    assert of_learned[["n", "left_out", "accuracy"]].tolist() == [2, 1, 85]
    assert of_random[["n", "left_out", "accuracy"]].tolist() == [2, 1, 45]
    assert of_importance[["n", "left_out", "accuracy", "difference"]].tolist() == [1, 0, 20, 65]


@pytest.mark.slow
@pytest.mark.sampled
def test_coverage_of_a_difference_on_pairs_that_all_seeds_share():
    """Pairs differ in how hard they are for learned subnetworks, while random ones guess."""
    rng, held, alone = np.random.default_rng(0), [], []
    seeds, pairs, studies, count = 10, 60, 25, amount(1000)  # each study is a subset of one table
    truth = 100 * (stats.norm.cdf(1 / np.sqrt(9 + 1 + 0.1**2)) - stats.norm.cdf(-0.5 / np.sqrt(1 + 0.1**2)))
    identity = RUN | {"sparsity": 0.3, "group": "ood", "family": None, "template": None}
    names = pd.MultiIndex.from_product(
        [[f"a{k}" for k in range(studies)], ["learned", "random"], range(seeds), range(pairs)],
        names=["subset", "control", "seed", "pair"],
    )
    for _ in range(count // studies):
        hard = rng.normal(size=(studies, 1, 1, pairs))
        skill = np.array([1.0, -0.5])[:, None, None] + rng.normal(0, 0.1, (studies, 2, seeds, 1))
        right = np.array([3.0, 0.0])[:, None, None] * hard + rng.normal(size=(studies, 2, seeds, pairs)) < skill
        drawn = pd.DataFrame({"accuracy": 100.0 * right.ravel()}, names).reset_index().assign(**identity)
        table = compute_controls(drawn, Analysis(bootstrap=100))
        table = table[(table["control"] == "random") & table["subset"].notna()]
        held += list((table["difference_low"] <= truth) & (truth <= table["difference_high"]))
        over_seeds = np.sqrt((table["difference_high"] - table["difference"]) ** 2 - table["pair_half_width"] ** 2)
        alone += list(abs(table["difference"] - truth) <= over_seeds)
    assert len(held) == count
    assert np.sum(held) >= least_held(count) and np.mean(alone) < 0.85


@pytest.mark.parametrize("count", [None, 4])
def test_pairs_that_chose_are_skipped_unless_nothing_is_left(encoded, count):
    """Subsets of 20 pairs: 5 in-domain ones, and 18 or all 20 of the others."""
    skip = {"id": 5, "ood": 18, "ood-entailment": 20}
    chose, rest = encoded.subsample(skip), encoded.subsample(count, skip)
    assert [s.stop - s.start for s in rest.subsets] == [count or 15, 2, count or 20]
    for s, r in zip(chose.subsets[:2], rest.subsets[:2], strict=True):
        first, second = (
            {tuple(encoded.ids[encoded.offsets[k] : encoded.offsets[k + 1]]) for k in range(at.start, at.stop)}
            for encoded, at in ((chose, s), (rest, r))
        )
        assert not first & second
    assert len(encoded.subsample(None, {"id": None, "ood": None, "ood-entailment": None})) == len(encoded)


def test_below_two_seeds_there_is_no_interval():
    result = row(compared({"a": [90.0, None, None], "b": [50.0, None, None]}), "random", "a")
    assert result["difference"] == 40 and pd.isna(result["difference_low"]) and pd.isna(result["difference_high"])


@pytest.mark.parametrize("count", [None, 1, 7, 1000])
def test_stored_predictions_are_scored_on_the_pairs_that_controls_are_evaluated_on(encoded, count):
    """What is drawn from a table of all predictions are the pairs of the thinned set, whatever the group."""
    logits = np.random.default_rng(0).normal(size=(len(encoded), 3)).astype(np.float32)
    thin = encoded.subsample(count, seed=3)
    kept = [s.start + sample_subset(encoded.labels[s.start : s.stop], s.name, count, 3) for s in encoded.subsets]
    kept = np.concatenate(kept)
    assert len(kept) == len(thin) == sum(min(count or 20, 20) for _ in encoded.subsets)

    def scored(of, values, **options):
        columns = evaluate.make_predictions(values, of) | Identity(**CELL).as_columns(len(of))
        return draw_pairs(as_frame(as_table("predictions", columns)), **options).reset_index(drop=True)

    of_thin, of_all = scored(thin, logits[kept], pairs=count, seed=3), scored(encoded, logits, pairs=count, seed=3)
    pd.testing.assert_frame_equal(of_thin, of_all)
    assert of_all["subset"].unique().tolist() == ["in", "out", "out_entailed"]
