"""Pruning of list-sorting models' halves, against models written plainly, brute force and made tables."""

from itertools import product

import pandas as pd
import pytest
import torch
import torch.nn.functional as F
from list_sorting import Plain, random_parameters, study
from mentions import mentions

from heuristic_core.config.figure import Figure
from heuristic_core.experiments.list_sorting import halves, pruning
from heuristic_core.experiments.list_sorting.ablation import compute_measures
from heuristic_core.experiments.list_sorting.config_prune import HalfGates, PruneRuns
from heuristic_core.experiments.list_sorting.data import draw_lists, make_sequences
from heuristic_core.experiments.list_sorting.effective_size import core_rows, size_rows
from heuristic_core.experiments.list_sorting.figures import figure_pruning
from heuristic_core.experiments.list_sorting.halves import (
    compute_corners,
    compute_half_means,
    gated_logits,
    subset_logits,
)
from heuristic_core.experiments.list_sorting.model import run_models
from heuristic_core.experiments.list_sorting.pruning import mask_rows, rank_subset, subset_rows
from heuristic_core.figures import style
from heuristic_core.pruning.learner import PruningRun
from heuristic_core.pruning.loop import PruningResult

STUDY = study()
TRAIN, TOKENS = (make_sequences(part, STUDY.data) for part in draw_lists(STUDY.data))
ALL = (0, 1, 2, 3)


@pytest.fixture
def model():
    """One model whose heads do much, as its random weights are large."""
    return {name: value.clone() for name, value in random_parameters(STUDY.data, STUDY.model, (1,)).items()}


def prepared(model, tokens=TOKENS):
    return compute_corners(model, tokens, compute_half_means(model, TRAIN))


def test_means_are_over_lists_alone(model, monkeypatch):
    monkeypatch.setattr(halves, "BATCH", 7)
    result, whole = compute_half_means(model, TRAIN), run_models(model, TRAIN)
    torch.testing.assert_close(result.attention, whole.attention[0].mean(0))
    torch.testing.assert_close(result.values, whole.values[0].mean(0))
    assert result.attention.shape == (2, 4, 8) and result.values.shape == (8, 2, 6)
    torch.testing.assert_close(result.attention.sum(-1), torch.ones(2, 4))


def test_all_halves_are_the_full_model(model):
    here = prepared(model)
    torch.testing.assert_close(subset_logits(model, here, ALL), run_models(model, TOKENS).logits[0], atol=1e-6, rtol=0)
    assert (subset_logits(model, here, ALL[1:]) - here.logits).abs().max() > 0.01


@pytest.mark.parametrize("gates", [(0, 1, 1, 1), (1, 0, 1, 1), (0, 0, 1, 1), (1, 1, 0, 0.5), (0.3, 0.8, 0.1, 0.6)])
def test_gates_mix_attention_and_values_of_a_plain_model(model, gates):
    means = compute_half_means(model, TRAIN)
    expected = Plain(model, 0)(TOKENS, gates=[gates[:2], gates[2:]], means=means).detach()
    result = gated_logits(model, compute_corners(model, TOKENS, means), torch.tensor([gates], dtype=torch.float))
    torch.testing.assert_close(result, expected, atol=1e-4, rtol=1e-4)


def test_every_list_can_have_its_own_gates(model):
    here = prepared(model)
    gates = torch.rand(len(TOKENS), 4, generator=torch.Generator().manual_seed(3))
    result = gated_logits(model, here, gates)
    for at in (0, 17):
        index = torch.tensor([at])
        alone = gated_logits(model, here.select(index), gates[index])
        torch.testing.assert_close(result[index], alone, atol=1e-5, rtol=1e-5)


def test_a_half_that_is_the_same_for_all_lists_can_be_removed(model):
    """Attention of a head without queries is even, and a head without value weights moves its bias."""
    model["query"][:, 0], model["query_bias"][:, 0] = 0, 0
    model["value"][:, 1] = 0
    here = prepared(model)
    torch.testing.assert_close(subset_logits(model, here, (1, 2)), here.logits, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(subset_logits(model, here, (1,)), here.logits, atol=1e-5, rtol=1e-5)
    assert (subset_logits(model, here, (2,)) - here.logits).abs().max() > 0.01


def test_subsets_are_those_of_brute_force(model):
    means = compute_half_means(model, TRAIN)
    result = {row["kept"]: row for row in subset_rows(model, compute_corners(model, TOKENS, means), TOKENS)}
    assert len(result) == 16
    full = F.log_softmax(Plain(model, 0)(TOKENS).detach().double(), -1)
    for gates in product((0, 1), repeat=4):
        logits = Plain(model, 0)(TOKENS, gates=[gates[:2], gates[2:]], means=means).detach()
        name = "+".join(name for name, gate in zip(("qk0", "ov0", "qk1", "ov1"), gates, strict=True) if gate)
        expected = compute_measures(logits, TOKENS)
        expected["kl"] = float((full.exp() * (full - F.log_softmax(logits.double(), -1))).sum(-1).mean())
        assert {key: result[name][key] for key in expected} == pytest.approx(expected, abs=1e-4)
        assert (result[name]["halves"], result[name]["heads"]) == (sum(gates), any(gates[:2]) + any(gates[2:]))


def test_too_many_halves_have_a_reason(model):
    here = prepared(model)
    wide = here._replace(contexts=here.contexts.repeat(1, 1, 4, 1, 1, 1))
    (row,) = subset_rows(model, wide, TOKENS)
    assert mentions(row["reason"], 16, 12)
    assert all(value is None for key, value in row.items() if key != "reason")
    assert rank_subset(0.1, 2, [row]) == {"best": None, "rank": None, "of": None, "reason": row["reason"]}


def test_gates_learn_the_head_that_alone_does_something(model):
    model["output"][:, 1] = 0
    settings = PruneRuns(seeds=[1, 2], gates=HalfGates(rise=100, hold=60))
    pool, here = prepared(model, TRAIN), prepared(model)
    rows = mask_rows(model, pool, here, TOKENS, subset_rows(model, here, TOKENS), settings)
    assert [(row["prune_seed"], row["kept"], row["rank"], row["of"]) for row in rows] == [
        (seed, "qk0+ov0", 1, 6) for seed in (1, 2)
    ]
    assert all(row["best"] == "qk0+ov0" and row["kl"] < 1e-6 and row["reason"] is None for row in rows)
    assert all(abs(row["sampled_sparsity"] - 0.5) < 0.2 for row in rows)


def test_a_failed_run_is_missing_with_its_reason(model, monkeypatch):
    def broken(model, pool, runs, settings):
        return [PruningResult(PruningRun(0.5, 7), torch.zeros(4), [], "diverged by step 3: kl nan")]

    monkeypatch.setattr(pruning, "learn", broken)
    here = prepared(model)
    (row,) = mask_rows(model, here, here, TOKENS, subset_rows(model, here, TOKENS), PruneRuns())
    assert row["reason"] == "diverged by step 3: kl nan"
    assert {key for key, value in row.items() if value is not None} == {"prune_seed", "sparsity", "reason"}


def test_ranks_by_hand():
    exact = [{"kept": name, "halves": size, "kl": kl, "reason": None} for name, size, kl in
             (("a", 1, 0.0), ("b", 2, 0.3), ("c", 2, 0.1), ("d", 2, 0.3))]  # fmt: skip
    assert rank_subset(0.3, 2, exact) == {"best": "c", "rank": 2, "of": 3, "reason": None}


# ---- tables


def subset_table(values, **about):
    """Rows of table sorting_subsets of two heads. values: kept -> token accuracy and KL."""
    named = {"study": "s", "condition": "c", "seed": 1, "step": 9, "reason": None} | about
    rows = []
    for kept, (accuracy, kl) in values.items():
        halves_kept = kept.split("+") if kept else []
        counts = {"halves": len(halves_kept), "heads": len({name[2:] for name in halves_kept})}
        rows.append(named | {"kept": kept, "token_accuracy": accuracy, "kl": kl} | counts)
    return pd.DataFrame(rows)


VALUES = {
    "": (0.1, 2.0), "ov0": (0.88, 0.3), "ov1": (0.6, 0.4), "qk0+ov0": (0.89, 0.15), "qk0+ov1": (0.885, 0.2),
    "qk1+ov1": (0.5, 0.9), "qk0+ov0+ov1": (0.89, 0.05), "qk0+ov0+qk1+ov1": (0.9, 0.0),
}  # fmt: skip


def test_effective_sizes_by_hand():
    rows = size_rows(subset_table(VALUES), PruneRuns(margin=1.7, kl=0.1))
    result = {(row["unit"], row["criterion"]): (row["effective_size"], row["kept"]) for row in rows}
    assert result == {
        ("half", "accuracy"): (50.0, "qk0+ov0"),  # qk0+ov1 is within the margin, too, but has the higher KL
        ("half", "kl"): (75.0, "qk0+ov0+ov1"),
        ("head", "accuracy"): (50.0, "qk0+ov0"),
        ("head", "kl"): (100.0, "qk0+ov0+qk1+ov1"),
    }
    assert {row["threshold"] for row in rows if row["criterion"] == "accuracy"} == {1.7}


def test_the_margin_is_strict():
    table = subset_table({"": (0.75, 1.0), "qk0+ov0+qk1+ov1": (1.0, 0.0)})
    sizes = {margin: size_rows(table, PruneRuns(margin=margin))[0]["effective_size"] for margin in (25.0, 26.0)}
    assert sizes == {25.0: 100.0, 26.0: 0.0}


def test_sizes_that_are_undefined_or_not_applicable_say_so():
    weak = {kept: (accuracy / 40, kl) for kept, (accuracy, kl) in VALUES.items()}
    rows = size_rows(subset_table(weak), PruneRuns())
    accuracy, kl = rows[:2]
    assert accuracy["effective_size"] is None and mentions(accuracy["reason"], 2.2)
    assert kl["effective_size"] == 75.0 and kl["reason"] is None
    missing = pd.DataFrame([dict.fromkeys(subset_table(VALUES).columns) | {"study": "s", "condition": "c", "seed": 1,
                                                                        "step": 9, "reason": "too many"}])  # fmt: skip
    assert {(row["effective_size"], row["reason"]) for row in size_rows(missing, PruneRuns())} == {(None, "too many")}


def test_the_core_is_what_all_sound_subsets_keep():
    model = {"study": "s", "condition": "c", "seed": 1}
    heads = pd.DataFrame([{**model, "step": step, "head": head, "copying": head / 2, "suppression": 0.25}
                          for step in (5, 9) for head in (0, 1)])  # fmt: skip
    result = ((5, "qk0+ov0", None), (5, "ov0+ov1", None), (5, None, "failed"), (9, None, "failed"))
    masks = pd.DataFrame([{**model, "step": step, "kept": kept, "reason": why} for step, kept, why in result])
    rows = list(core_rows(masks, heads))
    result = {(row["step"], f"{row['half']}{row['head']}"): (row["kept_by"], row["of"], row["core"]) for row in rows}
    assert {name: value for (step, name), value in result.items() if step == 5} == {
        "qk0": (1, 2, False), "ov0": (2, 2, True), "qk1": (0, 2, False), "ov1": (1, 2, False)
    }  # fmt: skip
    assert {value for (step, _), value in result.items() if step == 9} == {(0, 0, None)}
    assert {row["reason"] for row in rows if row["step"] == 9} == {"failed"}
    assert {(row["head"], row["copying"]) for row in rows} == {(0, 0.0), (1, 0.5)}


# ---- the figure


def figure_tables():
    """Two conditions, two seeds, three steps; the size by accuracy of condition a, seed 1, step 30 is missing."""
    models = [{"study": "s", "condition": c, "seed": s, "step": t} for c in "ab" for s in (1, 2) for t in (0, 10, 30)]
    sizes = [
        {**item, "unit": unit, "criterion": criterion, "effective_size": 25.0 * item["seed"] + item["step"]}
        for item in models for unit in ("half", "head") for criterion in ("accuracy", "kl")
    ]  # fmt: skip
    sizes[8]["effective_size"] = None
    core = [
        {**item, "head": head, "half": half, "kept_by": head, "of": 4, "copying": 1.0 - head, "suppression": head * 1.0}
        for item in models if item["step"] for head in (0, 1) for half in ("qk", "ov")
    ]  # fmt: skip
    llc = [{**item, "estimator": "tilted", "value": 7.0} for item in models if item["condition"] == "a"]
    return {name: pd.DataFrame(rows) for name, rows in
            (("sorting_sizes", sizes), ("sorting_core", core), ("sorting_llc", llc))}  # fmt: skip


def test_the_figure_draws_its_marks():
    with style.use_style():
        figure, marks = figure_pruning.draw(figure_tables(), Figure())
    values = marks.set_index(["condition", "panel", "curve", "step", "seed"])["value"].sort_index()
    size = values.loc["a", figure_pruning.SIZE, "accuracy"]
    assert size.loc[10, 1] == 35.0 and pd.isna(size.loc[30, 1])
    mean = marks[marks["seed"].isna()].set_index(["condition", "panel", "curve", "step"])[["value", "seeds"]]
    assert mean.loc[("a", figure_pruning.SIZE, "accuracy", 10)].tolist() == [47.5, 2]
    assert mean.loc[("a", figure_pruning.SIZE, "accuracy", 30)].tolist() == [80.0, 1]
    kept = values.loc["b", figure_pruning.KEPT]
    assert kept.loc["copies qk", 10, 1] == 0.0 and kept.loc["suppresses ov", 30, 2] == 25.0
    assert marks["step"].min() == 10
    (sizes_a, llc_a, _), (_, llc_b, _) = figure.get_axes()[:3], figure.get_axes()[3:]
    drawn = {tuple(line.get_xydata()[0]) for line in sizes_a.get_lines() if len(line.get_xydata())}
    assert {(10.0, 35.0), (10.0, 60.0), (10.0, 47.5)} <= drawn and not any(value != value for _, value in drawn)
    assert llc_a.get_lines() and not llc_a.texts and not llc_b.get_lines() and not llc_b.texts and not llc_b.axison


def test_a_study_without_coefficients_still_draws():
    tables = figure_tables()
    del tables["sorting_llc"]
    with style.use_style():
        figure, marks = figure_pruning.draw(tables, Figure())
    assert set(marks["panel"]) == {figure_pruning.SIZE, figure_pruning.KEPT} and len(figure.get_axes()) == 4
