"""Accuracies, their intervals, and distances from the full model, on cases small enough to count by hand."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from mentions import raises
from scipy import stats

from heuristic_core.experiments.subnetworks.analysis.accuracy import compute_group_accuracy, compute_group_means
from heuristic_core.experiments.subnetworks.analysis.batched_scores import score_in_batches
from heuristic_core.experiments.subnetworks.analysis.scores import compute_accuracies, compute_finetune_accuracy
from heuristic_core.experiments.subnetworks.config.analysis import Analysis
from heuristic_core.pruning.subnetwork import FailedRun
from heuristic_core.stats.bootstrap import (
    Resamples,
    bound_accuracy_interval,
    percentiles,
    sum_interval,
    wilson_zero_bound,
)
from heuristic_core.tables.identity import Identity
from heuristic_core.tables.parquet import read_categorical, write_table
from heuristic_core.tables.schemas import get_schema

RUN = {"study": "s", "model": "m", "task": "t", "ft_seed": 1, "step": 10}
FULL = {"sparsity": 0.0, "seed": None, "repeat": 0}
SUB = {"sparsity": 0.5, "seed": 42, "repeat": 0}
SUBSETS = {"in": ("id", [None] * 4), "swap": ("ood", ["a", "a", "b", "b"]), "if": ("ood", ["c"] * 4)}


def predictions(correct: dict[str, dict[str, list[int]]], **columns):
    """correct: cell ("full" or "sub") -> subset -> right or wrong by pair."""
    rows = []
    for cell, by_subset in correct.items():
        for subset, right in by_subset.items():
            group, templates = SUBSETS[subset]
            for k, (is_right, template) in enumerate(zip(right, templates, strict=True)):
                row = RUN | (FULL if cell == "full" else SUB) | columns
                row |= {"subset": subset, "group": group, "family": None, "example": k, "template": template}
                rows.append(row | {"correct": bool(is_right), "correct_merged": not is_right})
    frame = pd.DataFrame(rows)
    frame["seed"] = frame["seed"].astype("Int32")
    return frame


CORRECT = {
    "full": {"in": [1, 1, 1, 1], "swap": [1, 1, 1, 0], "if": [0, 0, 0, 1]},
    "sub": {"in": [1, 1, 1, 0], "swap": [0, 0, 0, 0], "if": [0, 0, 0, 1]},
}


def tables(rule="argmax-first", subsets=None, correct=CORRECT, logits=None, bootstrap=400):
    rows = predictions(correct)
    logits = np.zeros((len(rows), 3)) if logits is None else logits
    accuracy, groups, families = compute_accuracies(rows, logits, subsets, rule, bootstrap, seed=0)
    assert list(families.columns) == get_schema("family_scores").names and families.empty  # no entailment subsets
    assert list(accuracy.columns) == get_schema("accuracy").names
    assert list(groups.columns) == get_schema("group_accuracy").names
    return accuracy, groups


def cell(table, sparsity, **where):
    rows = table[table["sparsity"] == sparsity]
    for column, value in where.items():
        rows = rows[rows[column] == value]
    (row,) = rows.to_dict("records")
    return row


def test_accuracy_and_change_are_shares_of_pairs():
    accuracy, groups = tables()
    assert cell(accuracy, 0.0, subset="swap")["accuracy"] == 75
    assert cell(accuracy, 0.5, subset="swap") | {"accuracy": 0, "change": -75, "n": 4} == cell(
        accuracy, 0.5, subset="swap"
    )
    assert cell(groups, 0.5, group="ood")["accuracy"] == 12.5  # the mean of 0 and 25
    assert cell(groups, 0.5, group="ood")["change"] == -37.5
    assert cell(groups, 0.5, group="ood")["subsets"] == 2


def test_the_class_rule_chooses_which_predictions_count():
    accuracy, _ = tables(rule="merge-first")
    assert cell(accuracy, 0.0, subset="swap")["accuracy"] == 25


def test_group_means_take_the_chosen_subsets_alone():
    _, groups = tables(subsets=["in", "if"])
    assert cell(groups, 0.5, group="ood")["accuracy"] == 25
    with raises(ValueError, "absent"):
        tables(subsets=["absent"])


def test_templates_are_drawn_where_a_subset_has_several():
    accuracy, groups = tables()
    assert {s: cell(accuracy, 0.5, subset=s)["unit"] for s in SUBSETS} == {
        "in": "example",
        "swap": "template",
        "if": "example of one template",
    }
    assert cell(groups, 0.5, group="ood")["unit"] == "example of one template or template"


def test_intervals_of_changes_are_paired():
    """Two models that are wrong on the same pairs do not differ in any draw: only unseen pairs may tell them apart."""
    same = dict.fromkeys(("full", "sub"), CORRECT["full"])
    accuracy, groups = tables(correct=same)
    row = cell(accuracy, 0.5, subset="in")
    assert row["change_high"] == -row["change_low"] == pytest.approx(wilson_zero_bound(4))
    assert cell(groups, 0.5, group="ood")["change_high"] == pytest.approx(wilson_zero_bound(2 + 4))  # templates, pairs
    assert cell(accuracy, 0.0, subset="in")["change_low"] == cell(accuracy, 0.0, subset="in")["change_high"] == 0
    swap = cell(accuracy, 0.5, subset="swap")
    assert swap["low"] < swap["accuracy"] < swap["high"]


def test_agreement_and_kl_are_measured_from_the_full_model():
    rows = predictions(CORRECT)
    logits = np.zeros((len(rows), 3))
    logits[:, 0] = 2.0
    of_sub = rows["seed"].notna().to_numpy()
    logits[of_sub & (rows["example"] == 0).to_numpy()] = [0.0, 2.0, 0.0]
    accuracy, groups = tables(logits=logits)
    row = cell(accuracy, 0.5, subset="in")
    p = np.exp([2, 0, 0]) / np.exp([2, 0, 0]).sum()
    assert row["agreement"] == 75
    assert row["kl"] == pytest.approx((p * np.log(p / p[[1, 0, 2]])).sum() / 4)
    assert cell(accuracy, 0.0, subset="in")["kl"] == 0
    assert cell(groups, 0.5, group="ood")["agreement"] == 75


def test_models_on_different_pairs_cannot_be_compared():
    rows = predictions(CORRECT).iloc[:-1]
    with raises(ValueError, "'if'"):
        compute_accuracies(rows, np.zeros((len(rows), 3)), None, "argmax-first", 10, 0)


def test_text_read_as_categories_gives_the_same(tmp_path):
    rows = predictions(CORRECT)
    logits = np.random.default_rng(0).normal(size=(len(rows), 3))
    fields = pa.schema([get_schema("predictions").field(name) for name in rows.columns])
    pq.write_table(pa.Table.from_pandas(rows, fields), tmp_path / "rows.parquet")
    coded = read_categorical(tmp_path / "rows.parquet", rows.columns)
    assert all(isinstance(coded[name].dtype, pd.CategoricalDtype) for name in ("study", "subset", "group", "template"))
    for from_text, from_categories in zip(
        *(compute_accuracies(r, logits, ["in", "if"], "argmax-first", 100, 0) for r in (rows, coded)), strict=True
    ):
        pd.testing.assert_frame_equal(from_text, from_categories)


def test_accuracy_over_fine_tuning_has_intervals():
    rows = pd.concat([predictions({"full": CORRECT["full"]}, step=step) for step in (0, 5)], ignore_index=True)
    table = compute_finetune_accuracy(rows, None, "argmax-first", 100, 0)
    assert list(table.columns) == get_schema("finetune_accuracy").names
    subsets = table[table["subset"].notna()]
    assert subsets["step"].tolist() == [0, 0, 0, 5, 5, 5] and table["step"].is_monotonic_increasing
    assert (table["low"] <= table["accuracy"]).all() and (table["accuracy"] <= table["high"]).all()


def test_means_over_fine_tuning_are_those_of_the_same_model_at_its_checkpoint():
    rng, rows = np.random.default_rng(0), []
    for subset, group in (("out", "ood"), ("out_entailed", "ood-entailment")):
        for example, odds in enumerate(rng.normal(1, 1, 40)):
            identity = {"subset": subset, "group": group, "family": "constituent", "example": example, "template": None}
            rows.append(identity | {"correct": odds > 0, "correct_merged": odds > 0, "log_odds": np.float32(odds)})
    table = pd.DataFrame(rows).assign(study="s", model="m", task="t", ft_seed=1, step=5)
    traced = compute_finetune_accuracy(table, None, "argmax-first", 200, 0)
    (auc,) = traced.query("group == 'auc'").to_dict("records")
    sides = [-table.query("group == 'ood'")["log_odds"], table.query("group == 'ood-entailment'")["log_odds"]]
    ordered = stats.mannwhitneyu(sides[1], sides[0]).statistic / 40**2
    assert auc["accuracy"] == pytest.approx(100 * ordered) and pd.isna(auc["subset"])
    assert auc["low"] < auc["accuracy"] < auc["high"]
    cell = {"sparsity": 0.0, "seed": pd.array([None] * len(table), dtype="Int32"), "repeat": 0}
    _, at_checkpoint, _ = compute_accuracies(
        table.assign(**cell), np.zeros((len(table), 2)), None, "argmax-first", 200, 0
    )
    means = traced[traced["subset"].isna()].set_index("group")[["accuracy", "low", "high", "units"]]
    assert set(means.index) == {"ood", "ood-entailment", "j", "auc"}
    pd.testing.assert_frame_equal(means, at_checkpoint.set_index("group").loc[means.index, means.columns])
    assert "auc" not in set(compute_finetune_accuracy(table, ["out"], "argmax-first", 200, 0)["group"])


def test_the_bootstrap_has_the_standard_error_of_the_mean():
    rng = np.random.default_rng(0)
    values = rng.random(400) < 0.3
    draws = Resamples([None] * 400, 4000, rng).means(values[:, None])
    assert draws.std() == pytest.approx(values.std() / 20, rel=0.05)


def test_clustered_draws_vary_as_much_as_their_templates():
    """Pairs of a template that are all alike count as one: 4 templates, 2 right."""
    values = np.repeat([1.0, 1.0, 0.0, 0.0], 50)
    names = np.repeat(["a", "b", "c", "d"], 50)
    draws = Resamples(names, 4000, np.random.default_rng(0)).means(values)
    assert draws.std() == pytest.approx(
        0.5 / np.sqrt(3), rel=0.05
    )  # the standard error of four means with sd 0.58, n-1
    low, high = sum_interval([draws], [4], values.mean())
    lower, higher = percentiles(draws)
    assert (high - low) == pytest.approx((higher - lower) * stats.t.ppf(0.975, 3) / 1.96, rel=0.01)
    for unknown in (None, np.nan):
        assert Resamples([unknown, "a"], 5, np.random.default_rng(0)).unit == "example"
    single_template = Resamples(["a"] * 3, 5, np.random.default_rng(0))
    assert (single_template.unit, single_template.units) == ("example of one template", 3)


def test_an_accuracy_at_the_edge_has_wilsons_interval():
    from scipy.stats import binomtest

    low, high = bound_accuracy_interval(*map(np.array, ([0.0, 100.0, 40.0], [0.0, 100.0, 60.0])), units=20)
    none, every = (binomtest(k, 20).proportion_ci(method="wilson") for k in (0, 20))
    assert (low[0], high[0]) == pytest.approx((0, 100 * none.high))
    assert (low[1], high[1]) == pytest.approx((100 * every.low, 100))
    assert (low[2], high[2]) == (40, 60)
    assert percentiles(np.arange(101.0)) == (2.5, 97.5)


def test_a_group_mean_over_a_missing_value_is_missing():
    rows = pd.DataFrame(
        [
            RUN | SUB | {"subset": subset, "group": "ood", "family": None, "n": None, "accuracy": value, "reason": why}
            for subset, value, why in (("a", 10.0, None), ("b", None, "failed"))
        ]
    )
    assert compute_group_means(rows)["accuracy"].isna().all()
    assert compute_group_means(rows, ["a"])["accuracy"].tolist() == [10]
    groups = compute_group_accuracy(rows)
    assert groups["accuracy"].isna().all() and groups["reason"].tolist() == ["failed"]
    with raises(ValueError, "'c'", "a", "b"):
        compute_group_means(rows, ["c"])


@pytest.mark.slow
def test_subnetworks_a_few_at_a_time_give_the_same_tables(tmp_path):
    """Also failed runs come last in every block, and the full model once."""
    rng, paths = np.random.default_rng(0), []
    subsets = {"in": ("id", None), "swap": ("ood", "f"), "if": ("ood-entailment", "f")}
    for number in range(6):
        rows = []
        for subset, (group, family) in subsets.items():
            for k, odds in enumerate(rng.normal(size=12).tolist()):
                row = RUN | (FULL if number == 0 else SUB | {"seed": number})
                row |= {"subset": subset, "group": group, "family": family, "example": k, "template": f"t{k % 3}"}
                row |= {"label": k % 2, "prediction": 0, "correct": odds > 0, "correct_merged": odds > 0}
                rows.append(row | {"log_odds": odds, "logits": rng.normal(size=3).tolist()})
        write_table("predictions", rows, path := tmp_path / f"{number}.parquet")
        paths.append(path)
    lost = [FailedRun(Identity(**RUN, sparsity=0.5, seed=9), "diverged")]
    whole, chance = score_in_batches(paths[0], paths[1:], Analysis(), lost)
    for most in (36, 2 * 36, 3 * 36, 4 * 36):
        parts, same = score_in_batches(paths[0], paths[1:], Analysis(), lost, most)
        assert same == chance
        for by_parts, at_once in zip(parts, whole, strict=True):
            pd.testing.assert_frame_equal(by_parts, at_once, rtol=1e-12)
            assert len(by_parts) and by_parts["accuracy"].isna().sum() == len(by_parts) / 7
