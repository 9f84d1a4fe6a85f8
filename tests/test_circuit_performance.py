"""CPR and CMD: by hand, what is undefined or missing, and how often intervals hold the truth."""

import numpy as np
import pandas as pd
import pytest
from amounts import amount, least_held
from mentions import mentions
from size_curves import RUN

from heuristic_core.experiments.subnetworks.analysis.circuit_performance import compute_circuit_performance
from heuristic_core.experiments.subnetworks.config.analysis import Analysis
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.stats.bounds import compute_bounded_interval
from heuristic_core.stats.frames import make_frame

DRAWS = amount(1000)
KEPT = (0.2, 0.5, 0.8)  # shares that subnetworks keep
WEIGHTS = np.array([10, 25, 30, 25, 10])  # of trapezoids, percent: at 0, 0.2, 0.5, 0.8 and 1


def group_rows(full, by_seed, group="id", reach=0.0, change_reach=None):
    """Rows of table "group_accuracy". by_seed: seed -> accuracies by KEPT, null where a run failed."""
    about = RUN | {"step": 10, "group": group, "repeat": 0}
    yield about | {"sparsity": 0.0, "seed": None, "accuracy": full, "low": full - reach, "high": full + reach}
    for seed, values in by_seed.items():
        for kept, value in zip(KEPT, values, strict=True):
            row = about | {"sparsity": 1 - kept, "seed": seed, "accuracy": value}
            if change_reach is not None:
                change = value - full
                row |= {"change": change, "change_low": change - change_reach, "change_high": change + change_reach}
            yield row


def empty_rows(**accuracies):
    groups = {"entailment": "ood-entailment"}
    for name, value in accuracies.items():
        yield RUN | {"step": 10, "subset": name, "group": groups.get(name, name), "n": 100, "accuracy": value}


def performance(rows, empty, seeds=(1, 2), actual=None):
    rows = make_frame("group_accuracy", list(rows))
    runs = rows[rows["seed"].notna()].drop_duplicates(["step", "sparsity", "seed"])
    runs = runs.assign(actual_sparsity=runs["sparsity"].map(actual or {}).fillna(runs["sparsity"]), collapsed=False)
    steps = tuple(map(int, rows["step"].unique()))
    context = Context(mid=0.2, high=0.5, last=10, seeds=seeds, curve_seeds=seeds, checkpoints=steps, margin=3.0)
    return compute_circuit_performance(
        rows, make_frame("empty_circuit", list(empty)), make_frame("runs", runs), Analysis(), context
    )


def select_row(result, seed=None, group="id"):
    here = (result["seed"].isna() if seed is None else result["seed"] == seed) & (result["group"] == group)
    (row,) = result[here.fillna(False)].to_dict("records")
    return {name: None if pd.isna(value) else value for name, value in row.items()}


def test_by_hand():
    """From 30, the empty circuit, to 90: f is 0, 0.5, 1, 1, 1 and 0, 0, 1.5, 1, 1, which overshoots."""
    result = performance(group_rows(90.0, {1: (60.0, 90.0, 90.0), 2: (30.0, 120.0, 90.0)}), empty_rows(id=30.0))
    first_seed, second_seed, mean = select_row(result, 1), select_row(result, 2), select_row(result)
    assert (first_seed["cpr"], first_seed["cmd"]) == pytest.approx((77.5, 22.5))
    assert (second_seed["cpr"], second_seed["cmd"]) == pytest.approx((80.0, 50.0))
    assert (mean["cpr"], mean["cmd"], mean["n_seeds"]) == pytest.approx((78.75, 36.25, 2))
    assert mean["cmd_low"] is None  # two seeds


def test_the_interval_of_six_seeds_holds_for_any_distribution_and_has_the_error_of_pairs():
    values = {seed: (30.0 + 5 * seed, 90.0, 90.0) for seed in range(1, 7)}
    result = performance(group_rows(90.0, values, reach=2.0), empty_rows(id=30.0), seeds=tuple(values))
    seed_rows = result[result["seed"].notna()]
    assert (seed_rows["reach"] > 0).all()
    for name in ("cpr", "cmd"):
        expected = compute_bounded_interval(seed_rows[name], seed_rows[name], seed_rows["reach"])
        mean = select_row(result)
        assert (mean[f"{name}_low"], mean[f"{name}_high"]) == pytest.approx(expected)
        assert expected[1] - expected[0] > np.ptp(seed_rows[name])
    assert (mean["full_accuracy"], mean["empty_accuracy"], mean["reason"]) == (90.0, 30.0, None)


def test_a_step_has_its_size_for_its_distance():
    """All is right from 50 % of the components on, nothing below: CMD is this size but for half a trapezoid."""
    result = select_row(
        performance(group_rows(90.0, {1: (30.0, 90.0, 90.0)}, reach=1.0), empty_rows(id=30.0), seeds=(1,))
    )
    assert (result["cpr"], result["cmd"]) == pytest.approx((65, 35))
    assert result["cmd_low"] is None  # one seed


def test_shares_kept_are_the_actual_ones():
    result = performance(
        group_rows(90.0, {1: (60.0, 90.0, 90.0)}), empty_rows(id=30.0), seeds=(1,), actual={1 - 0.2: 0.7}
    )
    assert select_row(result, 1)["cmd"] == pytest.approx(30 * 1.5 / 2 + 20 * 0.5 / 2)


def test_j_is_of_both_classes_and_a_constant_class_has_none():
    rows = [*group_rows(60.0, {1: (0.0, 30.0, 60.0)}, "j"), *group_rows(70.0, {1: (0.0, 30.0, 60.0)}, "ood")]
    rejects = performance(rows, empty_rows(ood=100.0, entailment=0.0), seeds=(1,))
    accepts = performance(rows, empty_rows(ood=0.0, entailment=100.0), seeds=(1,))
    assert select_row(rejects, 1, "j")["cmd"] == select_row(accepts, 1, "j")["cmd"] == pytest.approx(10 + 25 + 15)
    assert select_row(accepts, 1, "ood")["cmd"] is not None
    assert mentions(select_row(rejects, 1, "ood")["reason"], "undefined", 70.0, 0.0)


def test_what_is_undefined_or_missing_is_null_with_its_reason():
    near = performance(group_rows(35.0, {1: (30.0,) * 3, 2: (31.0,) * 3}, reach=2.5), empty_rows(id=30.0))
    assert set(near["reason"].str.partition(":")[0]) == {"undefined"} and near["cmd"].isna().all()
    failed = performance(group_rows(90.0, {1: (60.0, None, 90.0), 2: (60.0, 80.0, 90.0)}), empty_rows(id=30.0))
    assert mentions(select_row(failed, 1)["reason"], "missing", 0.5)
    assert (
        select_row(failed)["n_seeds"] == 1
        and select_row(failed)["cmd"] == select_row(failed, 2)["cmd"]
        and select_row(failed)["cmd_low"] is None
    )
    unknown = performance(group_rows(90.0, {1: (60.0, 80.0, 90.0)}), [], seeds=(1,))
    assert all(mentions(reason, "missing", "empty circuit") for reason in unknown["reason"])
    alone = performance(group_rows(90.0, {1: (None,) * 3}), empty_rows(id=30.0), seeds=(1,))
    assert select_row(alone)["reason"].startswith("missing: ")


@pytest.mark.slow
@pytest.mark.sampled
@pytest.mark.parametrize("generator", range(4))
@pytest.mark.parametrize("n", [6, 10])
@pytest.mark.parametrize("lucky", [0, 0.15])
def test_coverage(n, generator, lucky):
    """Nominal 95 %, at least 90: pruning seeds differ, and share their 400 evaluation pairs with the full model.

    lucky: Share of pruning seeds whose subnetworks are as good as the full model.
    """
    rng, seeds, pairs = np.random.default_rng([generator, n, int(100 * lucky)]), tuple(range(1, n + 1)), 400
    means, full_accuracy = np.array([0.55, 0.75, 0.93]), 0.96
    f = (np.array([1 / 3, *means, full_accuracy]) - 1 / 3) / (full_accuracy - 1 / 3)
    truth, rows, empty = (1 - lucky) * WEIGHTS @ (1 - f) + lucky * WEIGHTS[0] * (1 - f[0]), [], []
    for step in range(DRAWS):
        hard = rng.random(pairs)  # the same pairs are hard for all models
        right = hard < full_accuracy
        by_seed, halves = {}, []
        for seed in seeds:
            ability = np.clip(means + rng.normal(0, [0.06, 0.04, 0.01]), 0, full_accuracy)
            ability = np.full(3, full_accuracy) if rng.random() < lucky else ability
            # Half of the errors of a subnetwork are on the hardest pairs, half are its own.
            models = [np.where(rng.random(pairs) < 0.5, hard, rng.random(pairs)) < item for item in ability]
            by_seed[seed] = tuple(100 * model.mean() for model in models)
            halves += [196 * (model.astype(float) - right).std() / np.sqrt(pairs) for model in models]
        of_full_reach = 196 * right.std() / np.sqrt(pairs)
        drawn = list(group_rows(100 * right.mean(), by_seed, reach=of_full_reach, change_reach=0.0))
        for row, half in zip(drawn[1:], halves, strict=True):
            row |= {"change_low": row["change"] - half, "change_high": row["change"] + half}
        rows += [row | {"step": step} for row in drawn]
        empty += [row | {"step": step} for row in empty_rows(id=100 / 3)]
    result = performance(rows, empty, seeds)
    means = result[result["seed"].isna()]
    assert len(means) == DRAWS
    assert ((means["cmd_low"] <= truth) & (truth <= means["cmd_high"])).sum() >= least_held(DRAWS)
