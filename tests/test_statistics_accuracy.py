"""Statistics of claims about the accuracy of the full model and of the spread."""

import numpy as np
import pytest
from claim_tables import FULL, SPREAD, actual, evidence, group_row
from scipy import stats

from heuristic_core.analysis.estimates import CannotSay
from heuristic_core.experiments.heuristic_core.analysis import statistics_accuracy as accuracy


def test_full_accuracy_has_the_bootstraps_interval():
    found = accuracy.full_accuracy(evidence(group_accuracy=[FULL]), group="ood")
    assert (found.value, found.low, found.high, found.n, found.unit) == (80, 75, 85, 12, "templates")


def test_units_of_intervals_are_named_in_the_plural():
    row = FULL | {"unit": "pair of one template or template"}
    found = accuracy.full_accuracy(evidence(group_accuracy=[row]), group="ood")
    assert found.unit == "pairs of one template or templates"


def test_ood_at_saturation_is_taken_at_the_first_saturated_evaluation():
    rows = [
        {
            "step": step,
            "subset": subset,
            "group": group,
            "accuracy": value,
            "low": value - 3,
            "high": value + 3,
            "n": 50,
            "unit": "pair",
            "units": 50,
        }
        for step, values in {5: (60, 1, 3), 10: (96, 2, 6), 20: (100, 40, 50)}.items()
        for subset, group, value in zip(("in", "a", "b"), ("id", "ood", "ood"), values, strict=True)
    ]
    found = accuracy.ood_at_saturation(evidence(finetune_accuracy=rows), share=0.95)
    assert (found.value, found.n) == (4, 100)
    assert (found.low, found.high) == pytest.approx((4 - np.sqrt(18) / 2, 4 + np.sqrt(18) / 2))
    assert found.detail.startswith("at step 10: ID 96.0 %")


def test_seed_statistics_are_over_pruning_seeds():
    found = evidence(group_accuracy=[*SPREAD, FULL])
    values = [10, 20, 30, 60]
    sd = accuracy.seed_sd(found, group="ood", sparsity="mid")
    assert sd.value == pytest.approx(np.std(values, ddof=1))
    assert sd.low < sd.value < sd.high
    mean = accuracy.spread_mean(found, group="ood", sparsity="mid")
    assert (mean.value, mean.n) == (30, 4)
    share = accuracy.share_of_full(found, group="ood", sparsity="mid")
    assert share.value == pytest.approx(100 * 30 / 80)
    with pytest.raises(CannotSay, match="no ood accuracy at high sparsity"):
        accuracy.spread_mean(found, group="ood", sparsity="high")


def test_mean_subset_sd_averages_over_subsets():
    rows = [row | {"subset": name} for row, name in ((r, s) for r in SPREAD for s in ("a", "b"))]
    rows = [row | {"accuracy": 7.0} if row["subset"] == "b" else row for row in rows]
    found = accuracy.mean_subset_sd(evidence(accuracy=rows), group="ood", sparsity="mid")
    assert found.value == pytest.approx(np.std([10, 20, 30, 60], ddof=1) / 2)
    assert "widest on a" in found.detail


def test_actual_sparsity_is_correlated_over_seeds():
    options = {"group": "ood", "sparsity": "mid"}
    uneven = actual(0.29, 0.28, 0.27, 0.26)
    found = accuracy.sparsity_correlation(evidence(group_accuracy=SPREAD, components=uneven), **options)
    assert found.value == pytest.approx(2 / 24, abs=0.01)  # of all orders of four, the same one and its reverse
    assert found.detail.startswith("rho -1.00")
    with pytest.raises(CannotSay, match="all keep the same number of components"):
        accuracy.sparsity_correlation(evidence(group_accuracy=SPREAD, components=actual(*[0.3] * 4)), **options)
    level = [row | {"accuracy": 0.0} for row in SPREAD]
    with pytest.raises(CannotSay, match="all have the same ood accuracy"):
        accuracy.sparsity_correlation(evidence(group_accuracy=level, components=uneven), **options)


def test_within_over_between():
    row = {"step": 30, "sparsity": 0.3, "group": "ood", "between_sd": 6.0, "seeds": 12, "repeated": 3, "within_sd": 2.0}
    options = {"group": "ood", "sparsity": "mid"}
    found = accuracy.within_over_between(evidence(variance=[row]), **options)
    assert found.value == pytest.approx(1 / 3)
    assert found.high == pytest.approx(np.sqrt(1 / 9 / stats.f.ppf(0.025, 3, 11)))
    same = accuracy.within_over_between(evidence(variance=[row | {"within_sd": 0.0}]), **options)
    assert (same.value, same.low, same.high) == (0, 0, 0)
    with pytest.raises(CannotSay, match=r"grid\.repeats"):
        accuracy.within_over_between(evidence(variance=[row | {"within_sd": None, "repeated": 0}]), **options)


def test_saturation_needs_both_groups():
    rows = [{"step": 5, "subset": "in", "group": "id", "accuracy": 90.0}]
    with pytest.raises(CannotSay, match="no ood subset"):
        accuracy.ood_at_saturation(evidence(finetune_accuracy=rows), share=0.95)


def test_learned_subnetworks_are_compared_with_controls():
    row = {"step": 30, "sparsity": 0.5, "control": "random", "group": "id", "accuracy": 60.0, "difference": 20.0}
    rows = [row | {"difference_low": 18.0, "difference_high": 22.0}]
    high = [group_row(80.0, group="id", sparsity=0.5, seed=s) for s in (1, 2, 3)]
    found = accuracy.over_control(
        evidence(controls=rows, group_accuracy=high), control="random", group="id", sparsity="high"
    )
    assert (found.value, found.low, found.high, found.n) == (20, 18, 22, 3)
