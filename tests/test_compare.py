"""Two studies compared: differences and intervals against hand calculation, the page, the command."""

import numpy as np
import pandas as pd
import pytest
from claim_tables import table
from compared_studies import make_three, side
from mentions import mentions
from page_studies import MID
from scipy import stats

from heuristic_core.experiments.subnetworks.analysis.compare import compare, find_unshared_subsets
from heuristic_core.experiments.subnetworks.analysis.evidence import Evidence
from heuristic_core.experiments.subnetworks.analysis.shared_core import compute_shared_core
from heuristic_core.experiments.subnetworks.analysis.study_values import (
    CORE_SIZE,
    FULL_ACCURACY,
    RANK_CORRELATION,
    SUBNETWORK_ACCURACY,
)
from heuristic_core.stats.seeds import FINE_TUNING_SEEDS, PRUNING_SEEDS

Z = stats.norm.ppf(0.975)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_three(tmp_path_factory.mktemp("work"))


def differences(folder, a, b):
    (tables_a, context_a), (tables_b, context_b) = side(folder, *a), side(folder, *b)
    return compare(tables_a, tables_b, context_a, context_b)


def row(frame, quantity, of, role=None):
    result = frame[frame["quantity"].str.startswith(quantity) & (frame["group_or_subset"] == of)]
    if role:
        result = result[result["sparsity_role"] == role]
    (result,) = result.to_dict("records")
    return result


@pytest.fixture(scope="module")
def single(folder):
    return differences(folder, ["one"], ["other"])


def test_full_models_differ_by_a_normal_interval_of_half_widths(single):
    ood = row(single, FULL_ACCURACY, "ood")
    half = np.hypot(5, 5)  # both sides reach 5 points to either side
    assert (ood["a"], ood["b"], ood["difference"]) == (50, 57, 7)
    assert (ood["low"], ood["high"]) == pytest.approx((7 - half, 7 + half))
    assert (ood["unit"], ood["n_a"], ood["n_b"], ood["step_a"]) == ("pair", 200, 200, 2200)
    assert row(single, FULL_ACCURACY, "cn_if")["difference"] == 7


@pytest.mark.parametrize("role", ["mid", "high"])
def test_subnetworks_differ_by_welch_over_pruning_seeds(single, role):
    result = row(single, SUBNETWORK_ACCURACY, "cn_if", role)
    half = stats.t.ppf(0.975, 22) * np.sqrt(2 * 36 / 12)  # equal variances and counts: Student's t of 2 (12 - 1)
    assert result["difference"] == pytest.approx(7)
    assert (result["low"], result["high"]) == pytest.approx((7 - half, 7 + half))
    assert (result["unit"], result["n_a"], result["n_b"]) == (PRUNING_SEEDS, 12, 12)


def test_sizes_of_few_pruning_seeds_have_no_interval_and_others_those_of_their_means(folder):
    """A pruning seed has one of two sizes, so that Student's interval over three seeds is too narrow."""
    (tables_a, context_a), (tables_b, context_b) = side(folder, "one"), side(folder, "other")
    few = row(compare(tables_a, tables_b, context_a, context_b), "effective size", "id")
    assert mentions(few["quantity"], 3) and few["n_a"] == 3
    assert np.isnan([few["low"], few["high"]]).all() and mentions(few["reason"], "a", "b")

    def with_ends(tables, low, high):
        sizes = tables["effective_size"].copy()
        mean = (sizes["step"] == 2200) & (sizes["group"] == "id") & sizes["seed"].isna()
        sizes.loc[mean, ["low", "high"]] = low, high
        return tables | {"effective_size": sizes}, sizes.loc[mean, "effective_size"].unique()

    (sides_a, values_a), (sides_b, values_b) = with_ends(tables_a, 60.0, 100.0), with_ends(tables_b, 70.0, 100.0)
    result = row(compare(sides_a, sides_b, context_a, context_b), "effective size", "id")
    assert result["a"] in values_a and result["b"] in values_b
    below, above = np.hypot(result["b"] - 70, 100 - result["a"]), np.hypot(100 - result["b"], result["a"] - 60)
    assert (result["low"], result["high"]) == pytest.approx(
        (result["difference"] - below, result["difference"] + above)
    )


def test_several_runs_are_compared_over_fine_tuning_seeds(folder):
    frame = differences(folder, ["one"], ["pair"])
    result = row(frame, SUBNETWORK_ACCURACY, "ood", "mid")
    variances, degrees = (36 / 12, 4 / 2), (11, 1)
    df = sum(variances) ** 2 / sum(v**2 / d for v, d in zip(variances, degrees, strict=True))
    half = stats.t.ppf(0.975, df) * np.sqrt(sum(variances))
    assert result["difference"] == pytest.approx(1)
    assert (result["low"], result["high"]) == pytest.approx((1 - half, 1 + half))
    assert result["unit"] == f"a: {PRUNING_SEEDS}; b: {FINE_TUNING_SEEDS}"
    full = row(frame, FULL_ACCURACY, "ood")
    assert full["unit"] == f"a: pair; b: {FINE_TUNING_SEEDS}"
    variances, degrees = ((5 / Z) ** 2, 4 / 2), (np.inf, 1)
    df = sum(variances) ** 2 / sum(v**2 / d for v, d in zip(variances, degrees, strict=True))
    assert full["high"] - full["difference"] == pytest.approx(stats.t.ppf(0.975, df) * np.sqrt(sum(variances)))


def test_correlations_differ_by_an_interval_from_their_ends(single):
    result = row(single, RANK_CORRELATION, "shared seeds")
    # 0.80 in [0.60, 0.95] and 0.87 in [0.60, 0.95]
    assert result["difference"] == pytest.approx(0.07)
    assert result["low"] == pytest.approx(0.07 - np.hypot(0.87 - 0.60, 0.95 - 0.80))
    assert result["high"] == pytest.approx(0.07 + np.hypot(0.95 - 0.87, 0.80 - 0.60))


def test_core_sizes_have_no_interval_and_say_so(single):
    result = row(single, CORE_SIZE, "heads")
    assert (result["a"], result["b"], result["difference"]) == (4, 6, 2)
    assert np.isnan(result["low"]) and mentions(result["reason"], "a", "b")


def test_core_heads_are_shared_by_identity_of_one_model(folder):
    (a, context_a), (b, context_b) = side(folder, "pair"), side(folder, "other")
    of_a, of_b = Evidence(context_a, a), Evidence(context_b.model_copy(update={"seeds": (1, 2)}), b)
    result = compute_shared_core(of_a, of_b)
    assert [(item.ft_seed_a, item.ft_seed_b, item.core_size_a, item.core_size_b) for item in result] == [
        (1, 1, 4, 6),
        (2, 1, 4, 6),
    ]
    assert result[0].names == ["0.0", "0.1", "0.2", "0.3"]
    assert (result[0].expected, result[0].p) == pytest.approx((3, 15 / 70))  # six of eight heads hold all of four
    for other in (b["core"].assign(model="another"), b["core"][b["core"]["component"] < 6]):
        assert compute_shared_core(of_a, Evidence(context_b, b | {"core": other})) == []
    same = compute_shared_core(of_a, Evidence(context_b, b))[0]
    assert same.p is None and mentions(same.reason, "components")
    runs = {"ft_seed": 1, "step": context_a.last, "repeat": 0, "collapsed": True, "missed": False}
    runs |= {"actual_sparsity": 0.5, "chance": 33.3}
    runs = [runs | {"sparsity": s, "seed": seed} for s in (context_a.mid, context_a.high) for seed in context_a.seeds]
    collapsed = compute_shared_core(Evidence(context_a, a | {"runs": table("runs", runs)}), of_b)[0]
    assert collapsed.p is None and "collapsed" in collapsed.reason


def test_errors_of_pairs_do_not_average_out_over_seeds(folder):
    """Twelve seeds with a standard deviation of 6 points, and 4 points to either side over their common pairs."""
    (a, context_a), (b, context_b) = side(folder, "one"), side(folder, "other")
    wide = [tables | {"summary": tables["summary"].assign(pair_half_width=4.0, left_out=2)} for tables in (a, b)]
    result = row(compare(*wide, context_a, context_b), SUBNETWORK_ACCURACY, "ood", "mid")
    of_seeds, of_pairs = 36 / 12, (4 / Z) ** 2
    df = (2 * (of_seeds + of_pairs)) ** 2 / (2 * of_seeds**2 / 11)
    half = stats.t.ppf(0.975, df) * np.sqrt(2 * (of_seeds + of_pairs))
    assert (result["low"], result["high"]) == pytest.approx((7 - half, 7 + half))
    assert mentions(result["unit"], PRUNING_SEEDS, 2)
    none = [tables | {"summary": tables["summary"].assign(n=0, mean=np.nan, left_out=12)} for tables in (a, b)]
    result = row(compare(*none, context_a, context_b), SUBNETWORK_ACCURACY, "ood", "mid")
    assert np.isnan(result["difference"]) and mentions(result["reason"], "a", 12)


def test_what_a_side_lacks_is_null_with_a_reason(folder):
    (a, context_a), (b, context_b) = side(folder, "one"), side(folder, "other")
    sizes = a["effective_size"].assign(effective_size=np.nan, reason="undefined")
    b = {name: table for name, table in b.items() if name != "core"}
    frame = compare(a | {"effective_size": sizes}, b, context_a, context_b)
    size, core = row(frame, "effective size", "id"), row(frame, CORE_SIZE, "heads")
    assert np.isnan(size["a"]) and size["b"] == 87 and np.isnan(size["difference"])
    assert size["reason"] == "a: undefined" and core["reason"].startswith("b: ")
    assert len(frame[frame["a"].isna() & frame["reason"].isna()]) == 0


def test_sizes_at_different_margins_are_not_subtracted(folder):
    (a, context), (b, _) = side(folder, "one"), side(folder, "other")
    b = b | {"effective_size": b["effective_size"].assign(threshold=5.0)}
    frame = compare(a, b, context, context.model_copy(update={"margin": 5.0}))
    sizes = frame[frame["quantity"].str.startswith("effective size")]
    names = set(sizes["quantity"])
    assert len(names) == 2 and all(any(mentions(name, margin) for name in names) for margin in (3, 5))
    assert sizes["difference"].isna().all()


def test_sizes_are_compared_in_the_order_of_their_study(folder):
    """A size of the mean over seeds is one number; sizes in other orders and by other rules are other quantities."""
    (a, context), (b, context_b) = side(folder, "one"), side(folder, "other")
    sizes = a["effective_size"]
    first = sizes[sizes["seed"].isna()].assign(order="mean-first", effective_size=55.0)
    a = a | {"effective_size": pd.concat([sizes, first])}
    text = context.model_copy(update={"size_order": "mean-first", "size_rule": "grid"})
    frame = compare(a, b, text, context_b)
    frame = frame[(frame["group_or_subset"] == "id") & frame["quantity"].str.startswith("effective size")]
    in_order = frame["quantity"].map(lambda name: mentions(name, 3, text.size_order, text.size_rule))
    assert frame["quantity"].nunique() == len(frame) == 2 and in_order.sum() == 1
    at_margin = frame[in_order].iloc[0]
    assert at_margin["a"] == 55 and at_margin[["a_low", "b", "difference"]].isna().all()


def test_no_spread_gives_no_interval(folder):
    (a, context), (b, _) = side(folder, "one"), side(folder, "other")
    flat = [tables | {"summary": tables["summary"].assign(sd=0.0)} for tables in (a, b)]
    result = row(compare(*flat, context, context), SUBNETWORK_ACCURACY, "ood", "mid")
    assert np.isnan(result["low"]) and result["reason"]


def test_numbers_at_other_sparsities_are_shown_and_not_subtracted(folder):
    (a, context), (b, _) = side(folder, "one"), side(folder, "other")
    b = b | {"summary": b["summary"].assign(sparsity=b["summary"]["sparsity"].replace(MID, 0.1))}
    frame = compare(a, b, context, context.model_copy(update={"mid": 0.1}))
    mid, high = (row(frame, SUBNETWORK_ACCURACY, "ood", role) for role in ("mid", "high"))
    assert (mid["sparsity_a"], mid["sparsity_b"]) == (MID, 0.1) and not np.isnan([mid["a"], mid["b"]]).any()
    assert np.isnan([mid["difference"], mid["low"], mid["high"]]).all()
    assert mentions(mid["reason"], "a", f"{100 * MID:g} %", "b", "10 %")
    assert (
        high["difference"] == pytest.approx(7) and pd.isna(high["reason"]) and high["sparsity_a"] == high["sparsity_b"]
    )
    for quantity, of in ((CORE_SIZE, "heads"), (RANK_CORRELATION, "shared seeds")):
        result = row(frame, quantity, of)
        assert np.isnan(result["difference"]) and mentions(result["reason"], f"{100 * MID:g} %", "10 %")


def test_an_interval_of_everything_is_a_message(folder):
    """Two seeds that end 100 points apart: Student's t with one degree of freedom reaches 635 points to either side."""
    (a, context), (b, _) = side(folder, "one"), side(folder, "other")
    wide = b["summary"][b["summary"]["over"] == PRUNING_SEEDS].assign(n=2, sd=70.7, low=-585.0, high=685.0)
    frame = compare(a, b | {"summary": wide}, context, context)
    result = row(frame, SUBNETWORK_ACCURACY, "ood", "mid")
    assert result["difference"] == result["b"] - result["a"]
    assert np.isnan([result[end] for end in ("low", "high", "b_low", "b_high")]).all()
    assert mentions(result["reason"], "b", "−585", 685)


def test_only_common_subsets_are_compared(folder):
    (a, context), (b, _) = side(folder, "one"), side(folder, "other")
    renamed = {
        name: b[name].assign(subset=b[name]["subset"].replace("cn_if", "cn_or")) for name in ("accuracy", "summary")
    }
    frame = compare(a, b | renamed, context, context)
    assert not {"cn_if", "cn_or"} & set(frame["group_or_subset"])
    assert "ln_swap" in set(frame["group_or_subset"])
    assert (find_unshared_subsets(a, b | renamed), find_unshared_subsets(b | renamed, a)) == (["cn_if"], ["cn_or"])


def test_two_runs_of_one_study_are_compared(folder):
    frame = differences(folder, ["pair", 1], ["pair", 2])
    result = row(frame, FULL_ACCURACY, "cn_if")
    assert (result["a"], result["b"], result["unit"]) == (41, 42, "pair")
    assert row(frame, SUBNETWORK_ACCURACY, "ood", "mid")["unit"] == PRUNING_SEEDS
