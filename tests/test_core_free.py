"""Subnetworks without the core: which sets are closed, and the difference that the core makes, on simulated tables."""

import numpy as np
import pandas as pd
import pytest
from claim_tables import CONTEXT, RUN, core_rows, group_row, table
from mentions import mentions, raises
from scipy import stats
from test_degenerate import full_rows, run_rows

from heuristic_core.experiments.subnetworks.analysis import statistics_further_runs as statistics
from heuristic_core.experiments.subnetworks.analysis.ablation_sets import make_joint_sets
from heuristic_core.experiments.subnetworks.analysis.closed_sets import (
    draw_control_sets,
    draw_matched_set,
    explain_missing_set,
    list_core_heads,
)
from heuristic_core.experiments.subnetworks.analysis.core_free import (
    NO_MID,
    collect_values,
    compute_core_free,
    compute_core_free_runs,
)
from heuristic_core.experiments.subnetworks.analysis.evidence import Evidence, select_run
from heuristic_core.experiments.subnetworks.analysis.packing import Round, close_next_round, compute_packing
from heuristic_core.experiments.subnetworks.config.analysis import Analysis
from heuristic_core.experiments.subnetworks.config.mechanism import CoreFree
from heuristic_core.experiments.subnetworks.jobs import core_free as job
from heuristic_core.models.components import ComponentGrid
from heuristic_core.stats.estimates import NotComputable, TooFewUnits
from heuristic_core.stats.replicates import compute_share_interval
from heuristic_core.stats.verdicts import decide_verdict

GRID = ComponentGrid(4, 8)
ABOUT = RUN | {"step": 30, "sparsity": 0.3}


# ---- which sets


def test_random_sets_are_those_of_ablations_and_may_have_core_heads():
    core = (1, 9, 12)
    drawn = draw_control_sets(core, GRID, 20, 0)
    assert len(set(drawn)) == 20 and core not in drawn and drawn != draw_control_sets(core, GRID, 20, 1)
    assert {tuple(head // 8 for head in heads) for heads in drawn} == {(0, 1, 1)}
    joint = make_joint_sets(core, dict.fromkeys(core, 1.0), GRID, 20, 5, 0)
    assert drawn == [item.heads for item in joint if item.role == "control" and item.layers == "0+1+1"]
    every = draw_control_sets((1, 9), GRID, 100, 0)
    assert {*every, (1, 9)} == {(a, 8 + b) for a in range(8) for b in range(8)} and len(every) == 63
    assert draw_control_sets((), GRID, 20, 0) == []


def test_sets_that_do_not_exist_say_why():
    assert len(draw_control_sets((1,), GRID, 20, 0)) == 7 and draw_control_sets(range(8, 16), GRID, 3, 0) == []
    assert mentions(explain_missing_set((1,), 8, 7), 8, 7)
    assert mentions(explain_missing_set((), 0, 0), "core")


def test_a_set_in_the_place_of_found_heads_is_drawn_from_all_of_each_layer():
    draws = [draw_matched_set((0, 1, 2, 9), GRID, np.random.default_rng(k)) for k in range(60)]
    assert {tuple(head // 8 for head in draw) for draw in draws} == {(0, 0, 0, 1)}
    assert all(len(set(draw)) == 4 for draw in draws) and {head for draw in draws for head in draw} == set(range(16))


def test_random_sets_take_the_pruning_seeds_in_turn():
    part = CoreFree(seeds=[5, 6], control_sets=3)
    assert part.runs == [(0, 5), (0, 6), (1, 5), (2, 6), (3, 5)]


def test_core_heads_are_those_of_the_table():
    assert list_core_heads(table("core", core_rows({4, 1}, set()))) == (1, 4)


# ---- the difference


def run_row(role, number, seed, sound=True):
    return ABOUT | {
        "role": role,
        "set": number,
        "seed": seed,
        "sound": sound,
        "mid_id_accuracy": 95.0,
        "closed": [number],
    }


def simulated(without_core, controls, unsound=()):
    """Tables of runs and levels: `without_core` with the core closed, `controls` with one random set each."""
    runs = [run_row("core-free", 0, 70 + k, sound=("core-free", k) not in unsound) for k in range(len(without_core))]
    runs += [run_row("control", k + 1, 70 + k, sound=("control", k) not in unsound) for k in range(len(controls))]
    levels = pd.DataFrame(runs)[["role", "set", "seed"]].assign(value=[*without_core, *controls], measure="accuracy")
    levels = levels.assign(subset=None, group="id", family=None)
    return table("core_free_runs", runs), levels


def test_the_difference_has_welchs_interval_and_a_p_over_sets():
    draws = np.random.default_rng(1)
    without_core, controls = draws.normal(80, 2, 12), draws.normal(95, 0.5, 20)
    row = compute_core_free(*simulated(without_core, controls)).iloc[0]
    assert (row["n"], row["n_control"], row["left_out"], row["left_out_control"]) == (12, 20, 0, 0)
    assert row["difference"] == pytest.approx(without_core.mean() - controls.mean())
    error = np.sqrt(without_core.var(ddof=1) / 12 + controls.var(ddof=1) / 20)
    degrees = error**4 / ((without_core.var(ddof=1) / 12) ** 2 / 11 + (controls.var(ddof=1) / 20) ** 2 / 19)
    half = stats.t.ppf(0.975, degrees) * error
    assert (row["low"], row["high"]) == pytest.approx((row["difference"] - half, row["difference"] + half))
    assert row["p_lower"] == pytest.approx(1 / 21) and row["p_higher"] == 1


def test_runs_that_went_wrong_are_left_out_and_counted():
    without_core, controls = [80.0, 82.0, 10.0], [95.0, 94.0, 20.0, 96.0]
    row = compute_core_free(*simulated(without_core, controls, {("core-free", 2), ("control", 2)})).iloc[0]
    assert (row["n"], row["n_control"], row["left_out"], row["left_out_control"]) == (2, 3, 1, 1)
    assert (row["core_free"], row["control"]) == (81.0, 95.0)
    runs, levels = simulated(without_core, controls, {("core-free", 2), ("control", 2), ("control", 3)})
    runs["closed"] = runs["closed"].mask(runs["set"] == 4)  # a set that does not exist
    assert compute_core_free(runs, levels).iloc[0][["n_control", "left_out_control"]].tolist() == [2, 1]
    none = compute_core_free(*simulated(without_core, controls, {("core-free", k) for k in range(3)})).iloc[0]
    assert pd.isna(none["difference"]) and mentions(none["reason"], "core")
    single = compute_core_free(*simulated([80.0], [95.0, 94.0])).iloc[0]
    assert single["difference"] == -14.5 and pd.isna(single["low"]) and single["reason"]
    alike = compute_core_free(*simulated([0.0, 0.0], [0.0, 0.0, 0.0])).iloc[0]
    assert (alike["difference"], alike["p_lower"], alike["p_higher"]) == (0, 1, 1) and pd.isna(alike["low"])


def test_levels_are_of_subsets_families_groups_and_j():
    rows = [
        ("in", "id", None, 90.0),
        ("a", "ood", "f", 20.0),
        ("b", "ood", "f", 60.0),
        ("c", "ood-entailment", "f", 99.0),
    ]
    accuracy = [{"seed": 0, "subset": s, "group": g, "family": f, "accuracy": a, "kl": 0.5} for s, g, f, a in rows]
    groups = [group_row(v, g, seed=0, kl=k) for g, v, k in (("id", 90.0, 0.5), ("ood", 40.0, 0.5), ("j", 39.0, None))]
    families = [{"seed": 0, "group": "j", "family": "f", "accuracy": 39.0}]
    design = pd.DataFrame([{"number": 0, "role": "core-free", "set": 0, "seed": 71}])
    tables = table("accuracy", accuracy), table("group_accuracy", groups), table("family_scores", families)
    result = collect_values(*tables, design).set_index(["measure", "subset", "group", "family"])["value"]
    assert result["accuracy", np.nan, "ood", "f"] == 40.0 and result["accuracy", "a", "ood", "f"] == 20.0
    assert result["accuracy", np.nan, "j", np.nan] == 39.0 and result["accuracy", np.nan, "j", "f"] == 39.0
    assert result["kl", np.nan, "ood", np.nan] == 0.5
    assert ("kl", np.nan, "j", np.nan) not in result.index


def test_a_run_is_faithful_within_the_margin_of_subnetworks_that_may_keep_all():
    design = pd.DataFrame(
        [{"number": k, "role": "core-free", "set": 0, "seed": 71 + k, "closed": [1]} for k in range(3)]
    )
    became = [ABOUT | {"seed": k, "actual_sparsity": 0.3, "missed": k == 1, "collapsed": False} for k in range(2)]
    became.append(ABOUT | {"seed": 2, "reason": "diverged"})
    groups = [group_row(value, "id", seed=k) for k, value in enumerate((92.5, 91.5))]
    result = compute_core_free_runs(design, table("runs", became), table("group_accuracy", groups), 95.0, 3.0)
    assert result["faithful"].tolist()[:2] == [True, False] and pd.isna(result["faithful"].iloc[2])
    assert result["sound"].tolist() == [True, False, False]
    assert result["seed"].tolist() == [71, 72, 73] and result["reason"].iloc[2] == "diverged"


# ---- claims


def make_evidence(without_core, controls, mid=95.0, **change):
    """mid: column mid_id_accuracy of table "core_free_runs". change: further columns of that table."""
    runs, _ = simulated(without_core, controls)
    tables = {name: table(name, rows) for name, rows in (("runs", run_rows()), ("group_accuracy", list(full_rows())))}
    runs = runs.assign(id_accuracy=[*without_core, *controls], mid_id_accuracy=mid, **change)
    tables |= {"core_free_runs": runs, "core": table("core", core_rows({1}, set()))}
    return Evidence(CONTEXT, select_run(tables, RUN))


def judge_competition(result):
    """Verdicts of the precondition and of the claim."""
    return (
        decide_verdict(statistics.pruning_around_heads(result), "> 0 points"),
        decide_verdict(statistics.share_faithful_without_core(result), "< 50 %"),
    )


def test_no_subnetwork_competes_where_none_is_faithful_without_the_core():
    draws = np.random.default_rng(4)
    without_core = draws.normal(80, 1, 12)
    result = make_evidence(without_core, draws.normal(94, 0.3, 40))
    assert judge_competition(result) == ("supported", "supported") and statistics.core_size(result).value == 1
    estimate = statistics.share_faithful_without_core(result)
    assert (estimate.value, estimate.low, estimate.n) == (0, 0, 12)
    assert estimate.high == pytest.approx(100 * (1 - 0.025 ** (1 / 12)))  # Clopper and Pearson


def test_faithful_subnetworks_without_the_core_compete_even_where_random_sets_break_the_model():
    without_core, controls = np.linspace(93, 98, 12), np.linspace(60, 70, 20)  # planted competition
    assert judge_competition(make_evidence(without_core, controls)) == ("supported", "contradicted")
    missed = make_evidence(
        without_core, controls, missed=[True] * 12 + [False] * 20
    )  # the subnetworks exist all the same
    assert judge_competition(missed) == ("supported", "contradicted")


def test_pruning_that_fails_whichever_heads_are_closed_says_nothing_about_the_core():
    result = make_evidence([50.0, 51.0, 52.0, 53.0, 54.0, 55.0], np.linspace(60, 70, 20))
    estimate = statistics.pruning_around_heads(result)
    assert estimate.value == pytest.approx(65 - 92) and decide_verdict(estimate, "> 0 points") == "contradicted"


def test_runs_that_missed_their_target_widen_the_interval_unless_they_are_faithful():
    without_core, missed = [80.0] * 8 + [95.0] * 2, [True] * 3 + [False] * 6 + [True] + [False] * 20
    estimate = statistics.share_faithful_without_core(make_evidence(without_core, [95.0] * 20, missed=missed))
    ends = 100 * compute_share_interval(2, 10)[0], 100 * compute_share_interval(5, 10)[1]
    assert (estimate.value, estimate.n) == (20, 10) and (estimate.low, estimate.high) == pytest.approx(ends)
    with raises(TooFewUnits, 5):
        statistics.share_faithful_without_core(make_evidence([80.0] * 5, [95.0] * 20))


# ---- packing


def test_packing_counts_rounds_that_recover_the_share():
    about = ABOUT | {"seed": 42}
    rounds = [
        Round(1, 0, (), (0, 1, 9, 33), 90.0),
        Round(2, 1, (2, 3, 8), (0, 4, 32, 33), 84.9),
        Round(2, 0, (0, 1, 9), (4, 5, 32, 33), 85.0),
        Round(3, 0, (0, 1, 4, 5, 9), None, None, "diverged"),
    ]
    result = compute_packing(rounds, GRID, 100.0, 0.85, about)
    assert result[["round", "control"]].values.tolist() == [[1, 0], [2, 0], [2, 1], [3, 0]]
    assert result["faithful"].tolist()[:3] == [True, True, False] and pd.isna(result["faithful"].iloc[3])
    assert result["room"].tolist() == [32 // 3] * 4 and result["heads"].tolist()[:3] == [3, 2, 2]


def test_a_round_closes_the_heads_of_those_before_while_there_are_some_and_room():
    third = Round(3, 0, (0, 9), (1, 8, 33), 90.0)
    assert close_next_round(third, GRID, 32) == (0, 1, 8, 9) and close_next_round(third, GRID, 33) is None
    assert (
        close_next_round(third._replace(kept=(32, 33)), GRID, 1) is None
    )  # MLPs alone: the next round would be this one


def test_without_a_sound_subnetwork_nothing_is_faithful():
    design = pd.DataFrame([{"number": 0, "role": "control", "set": 1, "seed": 71, "closed": [1]}])
    became = [ABOUT | {"seed": 0, "actual_sparsity": 0.3, "missed": False, "collapsed": False}]
    groups = table("group_accuracy", [group_row(92.0, "id", seed=0)])
    result = compute_core_free_runs(design, table("runs", became), groups, None, 3.0).iloc[0]
    assert result["sound"] and result["id_accuracy"] == 92 and result["reason"] == NO_MID
    assert pd.isna(result["mid_id_accuracy"]) and pd.isna(result["faithful"])
    with pytest.raises(NotComputable, match=NO_MID):
        statistics.share_faithful_without_core(make_evidence([80.0, 81.0], [95.0, 94.0], mid=np.nan))


def test_faithful_is_measured_by_sound_subnetworks_alone(monkeypatch):
    """Of the mid-sparsity subnetworks of seeds 1 to 3, the second collapsed; the fourth run failed and has no rows."""
    files = {f"seed{seed}": pd.DataFrame({"seed": [seed, seed], "value": 10.0 * seed}) for seed in (1, 2, 3)}
    files |= {"failed": files["seed1"].iloc[:0], "sound": pd.DataFrame({"seed": [1, 1, 3]})}
    files["none"] = files["sound"].iloc[:0]
    monkeypatch.setattr(job, "read_table", lambda path, without=(): files[path])
    monkeypatch.setattr(job, "compute_id_accuracy", lambda rows, *scoring: rows["value"].iloc[0])
    paths = ["seed1", "seed2", "seed3", "failed"]
    assert job._mid_accuracy(paths, files["sound"], Analysis()) == 20.0
    assert job._mid_accuracy(paths[:2], files["sound"], Analysis()) == 10.0
    assert job._mid_accuracy(paths[:2], files["none"], Analysis()) is None
