"""What became of pruning runs: targets that were missed, subnetworks at chance, runs that failed."""

import numpy as np
import pandas as pd
import pytest
from mentions import mentions

from heuristic_core.experiments.subnetworks.analysis.core import compute_core, compute_core_null
from heuristic_core.experiments.subnetworks.analysis.core_seeds import compute_core_seeds
from heuristic_core.experiments.subnetworks.analysis.outcomes import MAX_LISTED_RUNS, list_outcomes
from heuristic_core.experiments.subnetworks.analysis.rank_correlation import compute_rank_correlation
from heuristic_core.experiments.subnetworks.analysis.runs import compute_chance, compute_runs
from heuristic_core.experiments.subnetworks.analysis.scores import compute_accuracies
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.pruning.subnetwork import FailedRun, Subnetwork
from heuristic_core.stats.frames import make_frame
from heuristic_core.tables.identity import Identity
from heuristic_core.tables.parquet import as_frame, as_table, write_table
from heuristic_core.tables.schemas import get_schema

FULL = Identity("s", "m", "t", 1, 20)
CELL = FULL._replace(sparsity=0.5, seed=1)
LAYERS, HEADS = 4, 24  # 100 components
FAILED = FailedRun(CELL._replace(seed=2), "diverged by step 70: kl nan")


def subnetwork(kept=50, threshold=None, layers=LAYERS, heads=HEADS, **cell):
    size = layers * heads + layers
    return Subnetwork(CELL._replace(**cell), layers, heads, tuple(range(kept)), (0.0,) * size, threshold)


def trace(mask, gap=0.0, steps=30):
    """The gates lack `gap` in the last tenth of the steps, and much before."""
    end = steps - steps // 10
    rows = [
        {**mask.identity._asdict(), "prune_step": 10 * k, "kl": 0.25 if k >= end else 9.0, "target_sparsity": 0.5}
        | {"sampled_sparsity": 0.5 - gap if k >= end else 0.1, "lambda_1": 0.0, "lambda_2": 0.0, "log_alpha": 0.0}
        for k in range(steps)
    ]
    return make_frame("prune_trace", rows)


def groups(low, full_low=80.0):
    rows = [FULL._asdict() | {"group": "id", "accuracy": 90.0, "low": full_low, "high": 95.0}]
    rows.append(CELL._asdict() | {"group": "id", "accuracy": low + 2, "low": low, "high": low + 5})
    rows += [row | {"group": "ood", "low": 0.0} for row in rows]
    return make_frame("group_accuracy", rows)


def judged(mask=None, gap=0.0, low=60.0, full_low=80.0, of=50.0, controller="sampled"):
    mask = mask or subnetwork()
    (row,) = compute_runs([mask], trace(mask, gap), groups(low, full_low), of, controller).to_dict("records")
    return {name: None if pd.isna(value) else value for name, value in row.items()}


def test_a_run_that_went_well_has_its_numbers_and_no_reason(tmp_path):
    row = judged(gap=0.01)
    assert row["reason"] is None and not row["missed"] and not row["collapsed"]
    wanted = {"actual_sparsity": 0.5, "gate_sparsity": 0.49, "gap": 0.01, "kl": 0.25}
    wanted |= {"id_accuracy": 62.0, "id_low": 60.0, "id_high": 65.0, "chance": 50.0}
    assert {name: row[name] for name in wanted} == pytest.approx(wanted)
    assert list(row) == get_schema("runs").names
    write_table("runs", [row], tmp_path / "runs.parquet")


@pytest.mark.parametrize(
    ("mask", "gap", "off"),
    [
        (subnetwork(48), 0.0, None),
        (subnetwork(47), 0.0, "0.530"),
        (subnetwork(45, threshold=0.5), 0.0, None),
        (subnetwork(44, threshold=0.5), 0.0, "0.560"),
        (subnetwork(2, layers=1, heads=4), 0.0, None),  # 2 of 5: half a component off
        (subnetwork(1, layers=1, heads=4), 0.0, "0.800"),
        (subnetwork(), 0.02, None),
        (subnetwork(), -0.02, None),
        (subnetwork(), 0.021, "0.021"),
        (subnetwork(50, layers=1, heads=99), 0.021, "0.021"),
        (subnetwork(18, layers=4, heads=8), 1 / 36, None),  # one component of 36
        (subnetwork(18, layers=4, heads=8), 0.028, "0.028"),
        (subnetwork(), -0.3, "0.300"),
    ],
)
def test_a_target_is_missed_by_more_than_is_allowed(mask, gap, off):
    row = judged(mask, gap)
    assert (row["missed"], row["collapsed"]) == (off is not None, False)
    assert row["reason"] is None if off is None else mentions(row["reason"], off, 0.5)


def test_sampled_gates_are_not_judged_where_another_sparsity_is_steered():
    assert not judged(gap=0.3, controller="expected")["missed"]


@pytest.mark.parametrize(
    ("low", "full_low", "of", "collapsed"),
    [(50.1, 80, 50, False), (50.0, 80, 50, True), (20, 80, 50, True), (20, 50, 50, False), (20, 80, None, False)],
)
def test_a_collapsed_run_is_at_chance_where_its_full_model_is_not(low, full_low, of, collapsed):
    row = judged(low=low, full_low=full_low, of=of)
    assert row["collapsed"] == collapsed and not row["missed"]
    assert (row["reason"] is None) != collapsed
    if collapsed:
        assert mentions(row["reason"], 50.0)


def labelled(**subsets):
    """subsets: name -> labels; `out` is out-of-domain."""
    rows = [
        {"seed": seed, "subset": name, "group": "ood" if name == "out" else "id", "label": label}
        for seed in (None, 1)
        for name, labels in subsets.items()
        for label in labels
    ]
    return pd.DataFrame(rows).astype({"seed": "Int32"})


def test_chance_gives_one_label_everywhere_and_counts_subsets_alike():
    predictions = labelled(a=[0, 0, 0, 1], b=[1, 2], out=[2, 2, 2])
    assert compute_chance(predictions) == pytest.approx(100 * (0.25 + 0.5) / 2)  # label 1; label 0 has 75 and 0
    assert compute_chance(predictions, ["a", "out"]) == 75
    assert compute_chance(predictions, ["out"]) is None
    assert compute_chance(labelled(a=[0, 0], b=[1, 1])) == 50


def test_outcomes_name_some_and_count_the_rest():
    many = [FailedRun(CELL._replace(seed=seed, repeat=seed % 2), "diverged") for seed in range(MAX_LISTED_RUNS + 3)]
    rows = compute_runs(many, trace(subnetwork()), groups(60.0), 50.0)
    (failed,) = list_outcomes(rows)
    assert (failed.kind, failed.count, failed.total, len(failed.descriptions)) == (
        "failed",
        MAX_LISTED_RUNS + 3,
        MAX_LISTED_RUNS + 3,
        MAX_LISTED_RUNS,
    )
    assert mentions(failed.descriptions[1], 1, 20, 0.5, 2, "diverged")
    assert mentions(str(failed), *failed.descriptions, 3)
    assert list_outcomes(compute_runs([subnetwork()], trace(subnetwork()), groups(60.0), 50.0)) == []
    assert list_outcomes(make_frame("runs", [])) == []
    both = compute_runs([subnetwork(), FAILED], trace(subnetwork(), 0.1), groups(50.0), 50.0)
    assert both["missed"].isna().tolist() == both["collapsed"].isna().tolist() == [False, True]
    assert [outcome.kind.split()[0] for outcome in list_outcomes(both)] == ["failed", "collapsed", "missed"]


SUBSETS = {"a": "id", "b": "ood", "c": "ood-entailment"}


def test_a_failed_run_has_null_accuracies_with_its_reason():
    rows = [
        FULL._asdict() | {"seed": seed, "sparsity": 0.5 * bool(seed), "subset": subset, "group": group, "family": None}
        | {"example": k, "template": None, "label": 0, "prediction": 0, "correct": k < 3, "correct_merged": True}
        | {"log_odds": 0.0, "logits": [0.0, 1.0]}
        for seed in (None, 1)
        for subset, group in SUBSETS.items()
        for k in range(4)
    ]  # fmt: skip
    table = as_frame(as_table("predictions", rows)).drop(columns="logits")
    logits = np.array([row["logits"] for row in rows])
    without = compute_accuracies(table, logits, None, "argmax-first", 50, 0)
    result = compute_accuracies(table, logits, None, "argmax-first", 50, 0, [FAILED])
    expected = {"subset": [*SUBSETS], "group": [*SUBSETS.values(), "j", "auc"]}
    for before, after, of in zip(without, result, ("subset", "group", "group"), strict=True):
        null = after[(after["seed"] == 2).fillna(False)]
        assert null["accuracy"].isna().all() and set(null["reason"]) == {FAILED.reason}
        assert null[of].tolist() == (["j", "auc"] if "family" in after and "subset" not in after else expected[of])
        pd.testing.assert_frame_equal(after.drop(null.index).reset_index(drop=True), before)


# ---- what all subnetworks share, where one run failed

CONTEXT = Context(mid=0.25, high=0.5, last=20, seeds=(1, 2, 3), curve_seeds=(1,))


def components(runs):
    """runs: (sparsity, seed) -> heads kept of 2 x 4."""
    rows = []
    for (sparsity, seed), kept in runs.items():
        identity = FULL._replace(sparsity=sparsity, seed=seed)
        rows += Subnetwork(identity, 2, 4, tuple(kept), (0.0,) * 10).rows()
    return as_frame(as_table("components", rows))


MASKS = {(0.25, 1): [0, 1, 2, 4, 5, 6], (0.25, 2): [0, 1, 3, 4, 5, 7], (0.25, 3): [0, 1, 2, 4, 6, 7]}
MASKS |= {(0.5, 1): [0, 1, 4, 5], (0.5, 2): [2, 3, 6, 7], (0.5, 3): [0, 1, 4, 6]}


def test_the_core_rests_on_the_runs_that_there_are():
    there = components({run: kept for run, kept in MASKS.items() if run != (0.5, 2)})
    result = compute_core(there, CONTEXT)
    assert result.loc[result["in_core"], "name"].tolist() == ["0.0", "0.1", "1.0"]
    assert result[["n_mid", "n_high"]].drop_duplicates().to_numpy().tolist() == [[3, 2]]
    null = compute_core_null(there, CONTEXT, 50, 0).set_index("set")
    assert null[["n", "seeds", "observed"]].to_numpy().tolist() == [[2, 2, 3], [3, 3, 3], [5, 3, 3]]
    curve = compute_core_seeds(there, CONTEXT, 0)
    assert curve.groupby("set")["seeds"].max().to_dict() == {"high": 2, "mid": 3, "mid+high": 3}
    assert curve.groupby("set")["heads"].last().to_dict() == {"high": 3, "mid": 3, "mid+high": 3}


def test_head_frequencies_are_correlated_over_the_seeds_that_have_both_sparsities():
    there = {run: kept for run, kept in MASKS.items() if run != (0.5, 2)}
    alone = CONTEXT.model_copy(update={"seeds": (1, 3)})
    incomplete, restricted = (
        compute_rank_correlation(components(masks), context, 50, 0)
        for masks, context in ((there, CONTEXT), ({run: kept for run, kept in MASKS.items() if run[1] != 2}, alone))
    )
    pd.testing.assert_frame_equal(incomplete, restricted)
    apart = components({(0.25, 1): MASKS[0.25, 1], (0.5, 2): MASKS[0.5, 2]})
    assert compute_rank_correlation(apart, CONTEXT, 50, 0)["rho"].isna().all()
