"""Ablation of list-sorting models' heads, and what is measured of their logits, by hand."""

import math

import pytest
import torch
from list_sorting import Plain, random_parameters, study

from heuristic_core.experiments.list_sorting import ablation
from heuristic_core.experiments.list_sorting.ablation import (
    ablate_heads,
    calibration_error,
    compute_measures,
    measure_ablations,
)
from heuristic_core.experiments.list_sorting.data import draw_lists, make_sequences
from heuristic_core.experiments.list_sorting.model import compute_logits, run_models


@pytest.fixture(scope="module")
def models():
    """Parameters of two models, held-out sequences and training sequences."""
    made = study()
    train, held_out = (make_sequences(part, made.data) for part in draw_lists(made.data))
    return random_parameters(made.data, made.model), held_out, train


def select_model(parameters, m):
    return {name: value[m : m + 1] for name, value in parameters.items()}


def test_there_is_a_row_for_every_head_both_heads_and_every_kind(models):
    parameters, tokens, training = models
    rows = measure_ablations(parameters, tokens, training, 0)
    kinds = [("none", [])] + [(kind, heads) for kind in ("zero", "mean", "resample") for heads in ([0], [1], [0, 1])]
    assert [(row["model"], row["kind"], row["ablated"]) for row in rows] == [
        (m, *kind_and_heads) for m in (0, 1) for kind_and_heads in kinds
    ]
    assert rows == measure_ablations(parameters, tokens, training, 0)
    other = measure_ablations(parameters, tokens, training, 1)
    assert {a["kind"] for a, b in zip(rows, other, strict=True) if a != b} == {"resample"}


def test_rows_are_the_measures_of_a_plain_model_without_the_heads(models):
    parameters, tokens, training = models
    rows = measure_ablations(parameters, tokens, training, 0)
    for row in rows:
        if row["kind"] in ("none", "zero"):
            plain = compute_measures(Plain(parameters, row["model"])(tokens, tuple(row["ablated"])).detach(), tokens)
            assert {name: row[name] for name in plain} == pytest.approx(plain, abs=1e-5)


def test_the_mean_is_over_training_lists_at_every_position(models):
    parameters, tokens, training = models
    model = select_model(parameters, 1)
    mean = run_models(model, training).contexts[0].double().mean(0).float()
    expected = compute_measures(ablate_heads(model, tokens, [0], mean)[0], tokens)
    row = next(r for r in measure_ablations(parameters, tokens, training, 0) if (r["model"], r["kind"]) == (1, "mean"))
    assert {name: row[name] for name in expected} == pytest.approx(expected, abs=1e-6)


def test_a_head_without_list_of_its_own_loses_nothing_by_its_mean(models):
    """Its values are the same of all tokens at a position: what it writes is a constant of the position."""
    parameters, tokens, training = models
    constant = parameters | {"token": parameters["token"][:, :1].expand_as(parameters["token"])}
    rows = [row for row in measure_ablations(constant, tokens, training, 0) if row["model"] == 0]
    whole, zero, mean = (next(row["loss"] for row in rows if row["kind"] == kind) for kind in ("none", "zero", "mean"))
    assert mean == pytest.approx(whole, abs=1e-6) and abs(zero - whole) > 1e-3


def test_donors_that_are_the_lists_themselves_change_nothing(models, monkeypatch):
    parameters, tokens, _ = models
    model = select_model(parameters, 0)
    torch.testing.assert_close(ablate_heads(model, tokens, [0, 1], tokens), compute_logits(model, tokens))
    assert (ablate_heads(model, tokens, [1], tokens.flip(0)) - compute_logits(model, tokens)).abs().max() > 0.01
    whole = ablate_heads(model, tokens, [1], tokens.flip(0))
    monkeypatch.setattr(ablation, "BATCH", 7)
    torch.testing.assert_close(ablate_heads(model, tokens, [1], tokens.flip(0)), whole)


def test_measures_by_hand():
    """Two lists of two of three numbers; tokens 0, 1, 2 and the separator 3, to which no probability goes."""
    tokens = torch.tensor([[1, 0, 3, 0, 1], [2, 1, 3, 1, 2]])
    p = torch.tensor(
        [
            [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25]],  # both right
            [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]],  # wrong with certainty, right with certainty
        ]
    )
    logits = torch.cat([p.clamp(min=1e-6).log(), torch.full((2, 2, 1), -100.0)], -1)
    result = compute_measures(logits, tokens)
    assert result["token_accuracy"] == 0.75 and result["list_accuracy"] == 0.5
    assert result["loss"] == pytest.approx((2 * math.log(2) + 6 * math.log(10)) / 4, abs=1e-4)
    assert result["entropy"] == pytest.approx(2 * 1.5 * math.log(2) / 4, abs=1e-4)
    assert result["confidence"] == pytest.approx(0.75, abs=1e-4)
    assert result["calibration_error"] == pytest.approx((2 * 0.5 + 1) / 4, abs=1e-4)  # bins of 0.5 and of 1


def test_calibration_error():
    confidence = torch.tensor([0.95, 0.95, 0.95, 0.95, 0.1, 0.1])
    assert calibration_error(confidence, torch.tensor([1, 1, 1, 0, 0, 0]).bool()) == pytest.approx((0.8 + 0.2) / 6)
    assert calibration_error(torch.ones(3), torch.ones(3).bool()) == 0
