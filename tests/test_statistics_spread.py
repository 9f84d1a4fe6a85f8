"""Statistics of claims over pruning seeds: shares of subnetworks, and median differences."""

import numpy as np
import pytest
from claim_tables import CONTEXT, FULL, SPREAD, actual, evidence, group_row, table
from mentions import mentions, raises
from scipy import stats
from test_degenerate import full_rows, run_rows
from test_statistics_learned_masks import heads, make_mask_evidence

from heuristic_core.experiments.subnetworks.analysis import statistics_preconditions
from heuristic_core.experiments.subnetworks.analysis import statistics_spread as spread
from heuristic_core.experiments.subnetworks.analysis.evidence import Evidence
from heuristic_core.stats.estimates import DoesNotApply, FailedRuns, NotComputable, TooFewUnits
from heuristic_core.stats.verdicts import decide_verdict

OOD, ID = {"group": "ood", "sparsity": "mid"}, {"group": "id", "sparsity": "mid"}


def exact(count, n):
    ends = stats.binomtest(count, n).proportion_ci(method="exact")
    return 100 * ends.low, 100 * ends.high


def make_evidence(rows, **tables):
    """Evidence of as many pruning seeds as there are rows, and of the full model; rows: of table "group_accuracy"."""
    rows = [row | {"seed": seed} for seed, row in enumerate(rows, start=1)]
    full = [FULL, FULL | {"group": "id", "accuracy": 90.0, "low": 88.0, "high": 92.0}]
    more = {name: table(name, values) for name, values in tables.items()}
    context = CONTEXT.model_copy(update={"seeds": tuple(range(1, len(rows) + 1))})
    return Evidence(context, {"group_accuracy": table("group_accuracy", [*rows, *full])} | more)


def with_errors(values, half, group="ood"):
    """Subnetworks with intervals over pairs, of their accuracies and of their changes from the full model."""
    full = 80 if group == "ood" else 90
    return [
        group_row(value, group, low=value - half, high=value + half)
        | {"change_low": value - full - half, "change_high": value - full + half}
        for value in values
    ]


def test_a_share_of_subnetworks_has_the_exact_interval():
    result = spread.share_below(
        make_evidence(with_errors([0, 1, 2, 3, 4, 5, 6, 7, 50, 60, 70, 80], 0.5)), **OOD, points=10
    )
    assert (result.value, result.n) == (pytest.approx(100 * 8 / 12), 12)
    assert (result.low, result.high) == pytest.approx(exact(8, 12))
    assert mentions(result.detail, 8, 12, "OOD", 0.0, 80.0)


def test_subnetworks_that_may_be_on_either_side_are_counted_against_both_ends():
    result = spread.share_below(make_evidence(with_errors([0, 0, 0, 0, 9, 11], 2)), **OOD, points=10)
    assert result.value == pytest.approx(100 * 5 / 6)
    assert (result.low, result.high) == pytest.approx((exact(4, 6)[0], exact(6, 6)[1]))
    assert mentions(result.detail, 5, 6, 4)


def test_without_predictions_values_are_taken_as_they_are():
    result = spread.share_below(make_evidence([group_row(float(value)) for value in range(6)]), **OOD, points=3)
    assert (result.value, result.low, result.high) == pytest.approx((50, *exact(3, 6)))


def test_more_than_half_needs_six_subnetworks():
    six, five = (
        spread.share_below(make_evidence(with_errors([0] * n, 0.5)), **OOD, points=10) if n > 5 else n for n in (6, 5)
    )
    assert decide_verdict(six, "> 50 %") == "supported"
    with raises(TooFewUnits, 5, 6):
        spread.share_below(make_evidence(with_errors([0] * five, 0.5)), **OOD, points=10)
    assert exact(5, 5)[0] < 50 < exact(6, 6)[0]


def test_a_part_of_the_full_models_accuracy():
    values = [80, 78, 77.5, 76.5, 70, 60]
    near = spread.share_near_full(make_evidence(with_errors(values, 0.1)), **OOD, points=3)
    assert (near.value, near.low, near.high) == pytest.approx((50, *exact(3, 6)))
    assert mentions(near.detail, 3, 6, 80.0, 0.0, 20.0)
    kept = spread.share_near_full(make_evidence([group_row(float(value)) for value in values]), **OOD, percent=90)
    assert kept.value == pytest.approx(100 * 4 / 6)  # below 72 by the full model's interval or not: its value counts


def test_a_part_of_in_domain_accuracy_is_of_what_exceeds_chance():
    """Of 90 % with a chance of 50, 85 % is 84, with the interval of the full model from 83.7 to 84.3."""
    rows = with_errors([84.5, 84.2, 83.8, 83, 50, 90], 0, "id")
    result = spread.share_near_full(make_evidence(rows, runs=run_rows(chance=50.0)), **ID, percent=85)
    assert result.value == 50 and mentions(result.detail, 3, 6, 2, 4, "90.0 %", "50.0 %")
    with pytest.raises(NotComputable) as caught:
        spread.share_near_full(make_evidence(rows), **ID, percent=85)
    assert caught.type is NotComputable
    with pytest.raises(FailedRuns):
        spread.share_near_full(make_evidence(rows, runs=run_rows(chance=89.0)), **ID, percent=85)
    assert spread.share_near_full(make_evidence(rows), **ID, points=6).value == pytest.approx(100 * 3 / 6)


def test_a_full_model_at_zero_has_no_part():
    rows = [*SPREAD, FULL | {"accuracy": 0.0, "low": 0.0, "high": 1.0}]
    with raises(DoesNotApply, 0.0, "ood"):
        spread.share_near_full(evidence(group_accuracy=rows), **OOD, percent=90)


def test_mlps_that_subnetworks_keep(monkeypatch):
    monkeypatch.setattr(spread, "MIN_FOR_SHARE", 3)
    all_kept = make_mask_evidence(mid=dict.fromkeys((1, 2, 3), heads("0.0")), high={})
    result = spread.share_keeping_mlps(all_kept, sparsity="mid", percent=10)
    assert (result.value, result.low, result.high, result.n) == (100, pytest.approx(exact(3, 3)[0]), 100, 3)
    rows = all_kept.tables["components"]
    rows.loc[(rows["seed"] == 1) & (rows["name"] == "mlp 2"), "kept"] = False
    result = spread.share_keeping_mlps(all_kept, sparsity="mid", percent=10)
    assert result.value == pytest.approx(200 / 3)
    assert mentions(result.detail, 2, 3, "8.3 %", "25.0 %", "96.9 %")
    with raises(DoesNotApply, "MLPs"):
        same = rows[rows["kind"] == "head"]
        spread.share_keeping_mlps(Evidence(all_kept.context, {"components": same}), sparsity="mid", percent=10)


# ---- differences


def test_the_median_difference_is_that_of_all_pairs():
    values = [0.0, 1, 3, 7, 12, 20, 30, 45, 60]
    result = spread.seed_difference(make_evidence([group_row(value) for value in values]), **OOD)
    pairs = [abs(a - b) for k, a in enumerate(values) for b in values[:k]]
    assert result.value == np.median(pairs) and result.n == 9
    assert min(pairs) <= result.low < result.value < result.high <= max(pairs)
    assert mentions(result.detail, "OOD", 0.0, 60.0, f"{np.std(values, ddof=1):.1f}")
    with raises(TooFewUnits, 8, 9):
        spread.seed_difference(make_evidence([group_row(value) for value in values[1:]]), **OOD)


def test_one_run_far_off_moves_no_median_difference():
    """But a third of runs may be, of which one of twelve is, so that agreement is not clear."""
    near = [96.0, 96.1, 96.2, 96.3, 96.4, 96.5, 96.6, 96.7, 96.8, 96.9, 97.0, 97.1]
    result, off = (
        spread.seed_difference(make_evidence([group_row(value, "id") for value in values]), **ID)
        for values in (near, [*near[1:], 80.0])
    )
    assert off.value == pytest.approx(result.value, abs=0.1)
    verdicts = [decide_verdict(estimate, "< 1.4 points") for estimate in (result, off)]
    assert verdicts == ["supported", "not clear"]


def test_a_sample_of_pairs_does_not_make_subnetworks_disagree():
    """The variance of evaluation is taken from the lower end."""
    values = [50.0, 56, 44, 53, 47, 50.5, 51, 45, 58]
    sharp, vague = (spread.seed_difference(make_evidence(with_errors(values, half)), **OOD) for half in (0, 9.8))
    assert sharp.low > 0 and vague.low == 0 and (sharp.value, sharp.high) == (vague.value, vague.high)


def test_identical_subnetworks_have_no_interval():
    result = spread.seed_difference(make_evidence([group_row(40.0)] * 9), **OOD)
    assert result.low is None and result.high is None and decide_verdict(result, "< 1.4 points") == "too few"


@pytest.mark.parametrize("fault", [{"collapsed": True}, {"missed": True}, {"actual_sparsity": None}])
def test_runs_that_did_not_go_well_are_left_out(monkeypatch, fault):
    """One of four: less than half of a cell, and seed 1 has 10 %."""
    monkeypatch.setattr(spread, "MIN_FOR_SHARE", 2)
    full = [FULL, FULL | {"group": "id", "accuracy": 90.0, "low": 87.0}]
    tables = {"group_accuracy": [*SPREAD, *full], "components": actual(0.1, 0.2, 0.3, 0.35)}
    result = evidence(runs=run_rows(count=1, **fault), **tables)
    assert mentions(spread.share_below(result, **OOD, points=25).detail, 1, 3)
    cell = result.cell("components", "mid")
    assert cell["seed"].tolist() == [2, 3, 4] and cell["actual_sparsity"].tolist() == [0.2, 0.3, 0.35]
    assert [*cell.columns] == [*result.tables["components"].columns]
    for more in ({"runs": run_rows()}, {}):  # without a table of runs, nothing is known of them
        assert mentions(spread.share_below(evidence(**more, **tables), **OOD, points=25).detail, 2, 4)
    with raises(FailedRuns, 4, 30, 0.3, 2):
        spread.share_below(evidence(runs=run_rows(count=2, **fault), **tables), **OOD, points=25)


def test_a_collapsed_subnetwork_is_an_outcome_where_subnetworks_keep_the_task():
    """Seven of twelve keep it: of those that did not collapse, all do. A collapse may keep all of one class."""
    seeds = tuple(range(1, 13))
    rows = [*full_rows(), *(group_row(89.0, g, 0.5, seed) for g in ("id", "ood-entailment") for seed in seeds)]
    study = evidence(runs=run_rows(5, seeds=seeds, collapsed=True), group_accuracy=rows)
    study = Evidence(study.context.model_copy(update={"seeds": seeds}), study.tables)
    for group in ("id", "ood-entailment"):
        result = spread.share_near_full(study, group=group, sparsity="high", percent=85)
        assert result.value == pytest.approx(700 / 12) and decide_verdict(result, "> 50 %") == "not clear"
    assert statistics_preconditions.share_keeping_task(study, sparsity="high").value == pytest.approx(700 / 12)
    missed = Evidence(study.context, study.tables | {"runs": table("runs", run_rows(5, seeds=seeds, missed=True))})
    assert spread.share_near_full(missed, group="id", sparsity="high", percent=85).n == 7
