"""Random subnetworks, and learned ones compared with controls."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from heuristic_core.common.draws import numpy_generator
from heuristic_core.data.sampling import sample_subset
from heuristic_core.experiments.subnetworks.analysis.controls import (
    compute_controls,
    compute_drawn_accuracy,
    permute_heads,
)
from heuristic_core.interventions import evaluate
from heuristic_core.models.components import ComponentGrid
from heuristic_core.stats.frames import make_frame
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
    for found in draws:
        assert found == sorted(set(found)) and found[4:] == [12, 14]
        assert [head // 4 for head in found[:4]] == [0, 0, 0, 2]
    assert {found[3] for found in draws} == {8, 9, 10, 11}
    assert {tuple(found[:3]) for found in draws} == {(0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3)}


def rows_of(learned):
    """Accuracies of learned subnetworks; learned: by subset, one value per pruning seed, None for a failed run."""
    rows = [
        RUN
        | {"sparsity": 0.3, "control": "learned", "seed": seed, "subset": subset, "group": GROUPS[subset]}
        | {"accuracy": value}
        for subset, values in learned.items()
        for seed, value in zip(SEEDS, values, strict=True)
        if value is not None
    ]
    return pd.DataFrame(rows).assign(family=None)


def compared(learned, right=None, subsets=None, **scored):
    return compute_controls(
        pd.concat([rows_of(learned), compute_drawn_accuracy(predictions(right or RIGHT), **scored)]), subsets
    )


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


def t_interval(values):
    half = stats.t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / np.sqrt(len(values))
    return [np.mean(values), np.mean(values) - half, np.mean(values) + half]


def test_differences_are_paired_by_pruning_seed(tmp_path):
    result = compared(LEARNED)
    assert list(result.columns) == get_schema("controls").names
    write_table("controls", result, tmp_path / "controls.parquet")
    assert len(result) == 3 * 3  # a, b and their mean
    values = ["difference", "difference_low", "difference_high"]
    assert row(result, "learned", "a")[["n", "accuracy", "sd"]].tolist() == [3, 80, 10]
    assert row(result, "learned", "a")[values].isna().all()
    assert row(result, "random", "a")[["n", "accuracy", "sd"]].tolist() == [3, 40, 10]
    assert row(result, "random", "a")[values].tolist() == pytest.approx([40, 40, 40])  # all three differ by 40
    assert row(result, "random", "b")[values].tolist() == pytest.approx(t_interval([40, 30, 50]))
    assert row(result, "random", None)[values].tolist() == pytest.approx(t_interval([40, 35, 45]))
    one = row(result, "importance", None)
    assert one["n"] == 1 and one["accuracy"] == 30 and pd.isna(one["sd"])
    assert one[values].tolist() == pytest.approx(t_interval([40, 25, 40]))
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


@pytest.mark.parametrize("count", [None, 4])
def test_pairs_that_chose_are_skipped_unless_nothing_is_left(encoded, count):
    """Subsets of 20 pairs: 5 in-domain ones, and 18 or all 20 of the others."""
    skip = {"id": 5, "ood": 18, "ood-entailment": 20}
    chose, rest = encoded.subsample(skip), encoded.subsample(count, skip)
    assert [s.stop - s.start for s in rest.subsets] == [count or 15, 2, count or 20]
    for s, r in zip(chose.subsets[:2], rest.subsets[:2], strict=True):
        first, second = (
            {tuple(one.ids[one.offsets[k] : one.offsets[k + 1]]) for k in range(at.start, at.stop)}
            for one, at in ((chose, s), (rest, r))
        )
        assert not first & second
    assert len(encoded.subsample(None, {"id": None, "ood": None, "ood-entailment": None})) == len(encoded)


def test_below_two_seeds_there_is_no_interval():
    one = row(compared({"a": [90.0, None, None], "b": [50.0, None, None]}), "random", "a")
    assert one["difference"] == 40 and pd.isna(one["difference_low"]) and pd.isna(one["difference_high"])


@pytest.mark.parametrize("count", [None, 1, 7, 1000])
def test_stored_predictions_are_scored_on_the_pairs_that_controls_are_evaluated_on(encoded, count):
    """What is drawn from a table of all predictions are the pairs of the thinned set, whatever the group."""
    logits = np.random.default_rng(0).normal(size=(len(encoded), 3)).astype(np.float32)
    thin = encoded.subsample(count, seed=3)
    kept = [s.start + sample_subset(encoded.labels[s.start : s.stop], s.name, count, 3) for s in encoded.subsets]
    kept = np.concatenate(kept)
    assert len(kept) == len(thin) == sum(min(count or 20, 20) for _ in encoded.subsets)

    def scored(of, values, **options):
        columns = evaluate.predictions(values, of) | Identity(**CELL).as_columns(len(of))
        return compute_drawn_accuracy(as_frame(as_table("predictions", columns)), **options)

    of_thin, of_all = scored(thin, logits[kept], pairs=count, seed=3), scored(encoded, logits, pairs=count, seed=3)
    pd.testing.assert_frame_equal(of_thin, of_all)
    assert of_all["subset"].tolist() == ["in", "out", "out_entailed"]
