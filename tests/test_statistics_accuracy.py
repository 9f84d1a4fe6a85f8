"""Statistics of claims about the accuracy of the full model and of the spread."""

import numpy as np
import pytest
from amounts import amount
from claim_tables import FULL, SPREAD, actual, evidence, group_row
from scipy import stats
from test_degenerate import run_rows

from heuristic_core.experiments.subnetworks.analysis import statistics_accuracy as accuracy
from heuristic_core.experiments.subnetworks.analysis.evidence import Evidence
from heuristic_core.stats.estimates import DoesNotApply, FailedRuns, NotComputable, TooFewUnits
from heuristic_core.stats.verdicts import decide_verdict

OOD_MID = {"group": "ood", "sparsity": "mid"}
ID_MID = {"group": "id", "sparsity": "mid"}
LIMIT = accuracy.MIN_SUBNETWORKS


@pytest.fixture(autouse=True)
def four_subnetworks_are_enough(monkeypatch):
    """Small cases with known answers; the real limit has tests of its own."""
    monkeypatch.setattr(accuracy, "MIN_SUBNETWORKS", 2)


def test_full_accuracy_has_the_bootstraps_interval():
    found = accuracy.full_accuracy(evidence(group_accuracy=[FULL]), group="ood")
    assert (found.value, found.low, found.high, found.n, found.unit) == (80, 75, 85, 12, "templates")


def test_units_of_intervals_are_named_in_the_plural():
    row = FULL | {"unit": "pair of one template or template"}
    found = accuracy.full_accuracy(evidence(group_accuracy=[row]), group="ood")
    assert found.unit == "pairs of one template or templates"


# ---- saturation


def curve(by_step):
    """Table "finetune_accuracy": step -> accuracy on one ID subset and two OOD subsets."""
    return [
        {"step": step, "subset": subset, "group": group, "accuracy": value}
        | {"low": value - 3, "high": value + 3, "n": 50, "unit": "pair", "units": 50}
        for step, values in by_step.items()
        for subset, group, value in zip(("in", "a", "b"), ("id", "ood", "ood"), values, strict=True)
    ]


def saturated(by_step, **tables):
    return accuracy.ood_at_saturation(evidence(finetune_accuracy=curve(by_step), **tables), share=0.95)


LEARNING = {5: (60, 1, 3), 10: (96, 2, 6), 20: (100, 40, 50)}
PLATEAU = LEARNING | {30: (99, 60, 70)}


def test_ood_at_saturation_is_taken_at_the_first_saturated_evaluation():
    found = saturated(PLATEAU)
    assert (found.value, found.n) == (4, 100)
    assert (found.low, found.high) == pytest.approx((4 - np.sqrt(18) / 2, 4 + np.sqrt(18) / 2))
    assert found.detail.startswith("at step 10: ID 96.0 %")


def test_a_model_that_still_learns_has_not_saturated():
    """Its last evaluation is its best; two evaluations near the best are no plateau, three are."""
    for by_step in (LEARNING, PLATEAU | {40: (110, 70, 80)}, PLATEAU | {40: (94, 70, 80)}):
        with pytest.raises(DoesNotApply, match="stays at 95 % of its best for"):
            saturated(by_step)
    with pytest.raises(DoesNotApply, match="for 1 evaluations, not 3"):
        saturated({step: (40 + 5 * step, 0, 0) for step in range(1, 12)} | {12: (120, 0, 0)})
    assert saturated({1: (90, 2, 2), 2: (91, 3, 3), 3: (90, 4, 4)}).value == 2  # saturated from the first one on


def test_a_best_of_hardly_more_than_chance_does_not_saturate():
    """Two labels: a best of 52 % is learned, but 95 % of 52 is below the 50 % of guesses."""
    ids = (50, 51, 52, 52, 52)
    of_two = {"runs": run_rows(chance=50.0), "group_accuracy": [group_row(52.0, "id", 0.0, None, low=51.0, high=53.0)]}
    with pytest.raises(DoesNotApply, match=r"95 % of the best in-domain accuracy is 49.4 %, and chance is 50.0 %"):
        saturated({step: (value, 0, 0) for step, value in enumerate(ids)}, **of_two)
    assert saturated({step: (40 + value, 0, 0) for step, value in enumerate(ids)}, **of_two).value == 0


def test_ood_at_saturation_is_no_less_than_0():
    assert saturated(PLATEAU | {10: (96, 0, 0)}).low == 0


def test_saturation_needs_both_groups():
    rows = [{"step": 5, "subset": "in", "group": "id", "accuracy": 90.0}]
    with pytest.raises(NotComputable, match="no ood subset") as reason:
        accuracy.ood_at_saturation(evidence(finetune_accuracy=rows), share=0.95)
    assert reason.value.verdict == "not run"


# ---- over pruning seeds


def test_seed_statistics_are_over_pruning_seeds():
    found = evidence(group_accuracy=[*SPREAD, FULL])
    values = [10, 20, 30, 60]
    mean = accuracy.spread_mean(found, **OOD_MID)
    interval = stats.ttest_1samp(values, 0).confidence_interval()
    assert (mean.value, mean.low, mean.high, mean.n) == pytest.approx((30, max(0, interval.low), interval.high, 4))
    share = accuracy.share_of_full(found, **OOD_MID)
    assert share.value == pytest.approx(100 * 30 / 80)
    with pytest.raises(NotComputable, match="no ood accuracy at high sparsity"):
        accuracy.spread_mean(found, group="ood", sparsity="high")


def test_a_share_of_the_full_model_is_possible():
    """Of 80 % a subnetwork keeps 0 to 125 %; of ID accuracy above chance, 30 points of 80, -167 to 167 %."""
    wide = [row | {"accuracy": value} for row, value in zip(SPREAD, (5.0, 95.0, 90.0, 99.0), strict=True)]
    share = accuracy.share_of_full(evidence(group_accuracy=[*wide, FULL]), **OOD_MID)
    assert share.value == pytest.approx(100 * 72.25 / 80) and share.low >= 0 and share.high == 125
    in_domain = [row | {"group": "id"} for row in (*wide, FULL)]
    share = accuracy.share_of_full(evidence(group_accuracy=in_domain, runs=run_rows(chance=50.0)), **ID_MID)
    assert (share.minimum, share.maximum, share.high) == pytest.approx((-500 / 3, 500 / 3, 500 / 3))


@pytest.mark.sampled
def test_intervals_of_shares_near_the_ceiling_hold_the_truth():
    """Most of twelve subnetworks keep nearly all of 99 %, one in six loses much: no interval ends beyond 101 %."""
    rng, held, count = np.random.default_rng(14), 0, amount(800)
    truth = 100 * np.mean(lose(np.random.default_rng(0), 200_000)) / 99
    full = FULL | {"accuracy": 99.0}
    for _ in range(count):
        rows = [SPREAD[0] | {"seed": seed, "accuracy": value} for seed, value in enumerate(lose(rng, 12), start=1)]
        found = evidence(group_accuracy=[*rows, full])
        found = Evidence(found.context.model_copy(update={"seeds": tuple(range(1, 13))}), found.tables)
        share = accuracy.share_of_full(found, **OOD_MID)
        held += share.low <= truth <= share.high <= 10_000 / 99
    assert held >= 0.9 * count - 2 * np.sqrt(0.09 * count)


def lose(rng, count):
    """Accuracies of subnetworks, percent."""
    return np.minimum(100, np.where(rng.random(count) < 1 / 6, rng.normal(80, 10, count), rng.normal(98.5, 1, count)))


@pytest.mark.parametrize("name", ["seed_sd", "spread_mean", "share_of_full", "below_full"])
def test_intervals_over_pruning_seeds_need_nine_subnetworks(monkeypatch, name):
    monkeypatch.setattr(accuracy, "MIN_SUBNETWORKS", LIMIT)
    with pytest.raises(TooFewUnits, match=r"4 sound subnetworks, .* needs 9"):
        getattr(accuracy, name)(evidence(group_accuracy=[*SPREAD, FULL]), **OOD_MID)


def of_six(values):
    rows = [SPREAD[0] | {"seed": seed, "accuracy": value} for seed, value in enumerate(values, start=1)]
    found = evidence(group_accuracy=rows)
    return Evidence(found.context.model_copy(update={"seeds": tuple(range(1, 7))}), found.tables)


def test_a_standard_deviation_over_six_seeds():
    values = [10, 20, 30, 60, 25, 15]
    sd = accuracy.seed_sd(of_six(values), **OOD_MID)
    assert sd.value == pytest.approx(np.std(values, ddof=1)) and sd.n == 6
    assert 0 < sd.low < sd.value < sd.high


def test_a_sample_of_pairs_does_not_make_subnetworks_disagree():
    """Errors of evaluation are part of a standard deviation; they are taken from its lower end."""
    values = np.array([50.0, 56, 44, 53, 47, 50])
    rows = [SPREAD[0] | {"seed": seed, "accuracy": value} for seed, value in enumerate(values, start=1)]
    noisy = [row | {"low": row["accuracy"] - 9.8, "high": row["accuracy"] + 9.8} for row in rows]
    seeds = {"seeds": tuple(range(1, 7))}
    sharp, vague = (
        accuracy.seed_sd(Evidence(found.context.model_copy(update=seeds), found.tables), **OOD_MID)
        for found in (evidence(group_accuracy=rows), evidence(group_accuracy=noisy))
    )
    assert sharp.low > 0 and vague.low == 0 and (sharp.value, sharp.high) == (vague.value, vague.high)


def test_identical_subnetworks_have_no_interval():
    for statistic, threshold in ((accuracy.seed_sd, "< 1.5 points"), (accuracy.spread_mean, "> 20 %")):
        found = statistic(of_six([40.0] * 6), **OOD_MID)
        assert found.low is None and found.high is None and decide_verdict(found, threshold) == "too few"


def test_means_over_seeds_have_the_errors_of_the_pairs_too():
    """All subnetworks are evaluated on the same pairs: half widths of 5 and 7 points do not average out."""
    halves = (5, 7, 5, 7)
    rows = [
        row | {"low": row["accuracy"] - half, "high": row["accuracy"] + half}
        | {"change_low": row["accuracy"] - 80 - half / 2, "change_high": row["accuracy"] - 80 + half / 2}
        for row, half in zip(SPREAD, halves, strict=True)
    ]  # fmt: skip
    found = evidence(group_accuracy=[*rows, FULL])
    t = stats.t.ppf(0.975, 3) * np.std([10, 20, 30, 60], ddof=1) / 2
    mean = accuracy.spread_mean(found, **OOD_MID)
    assert mean.high - 30 == pytest.approx(np.hypot(t, 6)) and mean.low == 0
    below = accuracy.below_full(found, **OOD_MID)
    assert (below.low, below.high) == pytest.approx((50 - np.hypot(t, 3), 50 + np.hypot(t, 3)))
    share = accuracy.share_of_full(found, **OOD_MID)
    assert share.high - share.value == pytest.approx(100 / 80 * np.hypot(t, 6))
    same = accuracy.spread_mean(evidence(group_accuracy=[row | {"accuracy": 30.0} for row in rows]), **OOD_MID)
    assert (same.low, same.high) == pytest.approx((24, 36))  # identical subnetworks have the errors of the pairs


def of_chance(chance, full=90.0, pruned=(85.0, 80.0, 75.0, 80.0)):
    rows = [group_row(value, "id", seed=seed) for seed, value in enumerate(pruned, start=1)]
    whole = FULL | {"group": "id", "accuracy": full, "low": full - 3, "high": full + 3}
    return evidence(group_accuracy=[*rows, whole], runs=run_rows(chance=chance))


def test_a_share_of_in_domain_accuracy_is_of_what_is_above_chance():
    found = accuracy.share_of_full(of_chance(50.0), **ID_MID)
    assert found.value == pytest.approx(100 * (80 - 50) / (90 - 50))
    assert found.detail == "lowest 62.5 %, full model 90.0 %, chance 50.0 %"
    with pytest.raises(FailedRuns, match="the full model is at chance in-domain"):
        accuracy.share_of_full(of_chance(50.0, full=51.0), **ID_MID)
    with pytest.raises(DoesNotApply, match=r"-10\.0 points above chance on id"):
        accuracy.share_of_full(of_chance(50.0, full=40.0), **ID_MID)


def test_a_share_of_ood_accuracy_is_not_of_what_is_above_chance():
    rows = [*SPREAD, FULL, FULL | {"group": "id", "accuracy": 90.0, "low": 87.0}]
    found = accuracy.share_of_full(evidence(group_accuracy=rows, runs=run_rows(chance=50.0)), **OOD_MID)
    assert found.value == pytest.approx(100 * 30 / 80)


@pytest.mark.parametrize("fault", [{"collapsed": True}, {"missed": True}, {"actual_sparsity": None}])
def test_runs_that_did_not_go_well_are_left_out(fault):
    """One of four: less than half of a cell, and seed 1 has 10 %."""
    full = [FULL, FULL | {"group": "id", "accuracy": 90.0, "low": 87.0}]
    tables = {"group_accuracy": [*SPREAD, *full], "components": actual(0.1, 0.2, 0.3, 0.35)}
    found = evidence(runs=run_rows(count=1, **fault), **tables)
    assert accuracy.spread_mean(found, **OOD_MID).value == pytest.approx(110 / 3)
    assert accuracy.spread_mean(found, **OOD_MID).n == 3
    cell = found.cell("components", "mid")
    assert cell["seed"].tolist() == [2, 3, 4] and cell["actual_sparsity"].tolist() == [0.2, 0.3, 0.35]
    assert [*cell.columns] == [*found.tables["components"].columns]
    assert accuracy.spread_mean(evidence(runs=run_rows(), **tables), **OOD_MID).value == 30
    assert accuracy.spread_mean(evidence(**tables), **OOD_MID).value == 30  # nothing is known of runs
    with pytest.raises(FailedRuns, match=r"of the 4 pruning runs at step 30, sparsity 0\.3, 2 "):
        accuracy.spread_mean(evidence(runs=run_rows(count=2, **fault), **tables), **OOD_MID)


def test_actual_sparsity_is_correlated_over_seeds():
    uneven = actual(0.29, 0.28, 0.27, 0.26)
    found = accuracy.sparsity_correlation(evidence(group_accuracy=SPREAD, components=uneven), **OOD_MID)
    assert found.value == pytest.approx(2 / 24, abs=0.01)  # of all orders of four, the same one and its reverse
    assert found.opposite is None and found.detail.startswith("rho -1.00")
    with pytest.raises(DoesNotApply, match="all keep the same number of components"):
        accuracy.sparsity_correlation(evidence(group_accuracy=SPREAD, components=actual(*[0.3] * 4)), **OOD_MID)
    level = [row | {"accuracy": 0.0} for row in SPREAD]
    with pytest.raises(DoesNotApply, match="all have the same ood accuracy"):
        accuracy.sparsity_correlation(evidence(group_accuracy=level, components=uneven), **OOD_MID)


def test_learned_subnetworks_are_compared_with_controls():
    row = {"step": 30, "sparsity": 0.5, "control": "random", "group": "id", "accuracy": 60.0, "difference": 20.0}
    rows = [row | {"difference_low": 18.0, "difference_high": 22.0}]
    high = [group_row(80.0, group="id", sparsity=0.5, seed=s) for s in (1, 2, 3)]
    found = accuracy.over_control(
        evidence(controls=rows, group_accuracy=high), control="random", group="id", sparsity="high"
    )
    assert (found.value, found.low, found.high, found.n) == (20, 18, 22, 3)
    assert found.shared_half_widths == (0, 0)
    rows = [rows[0] | {"pair_half_width": 1.5, "left_out": 2}]
    found = accuracy.over_control(
        evidence(controls=rows, group_accuracy=high), control="random", group="id", sparsity="high"
    )
    assert found.shared_half_widths == (1.5, 1.5) and "faulty runs left out: 2" in found.detail
