"""Ablation of what heads copy and suppress, against a model of plain torch."""

import pytest
import torch
from figure_tables import filter_rows
from list_sorting import random_parameters, study
from list_sorting_tables import LAST, SEEDS, TABLES

from heuristic_core.config.figure import Figure
from heuristic_core.experiments.list_sorting import mode_ablation
from heuristic_core.experiments.list_sorting.ablation import (
    compute_measures,
    draw_donors,
    measure_ablations,
)
from heuristic_core.experiments.list_sorting.data import draw_lists, make_sequences
from heuristic_core.experiments.list_sorting.effect_measures import copied_numbers, suppressed_numbers
from heuristic_core.experiments.list_sorting.effects import measure_effects
from heuristic_core.experiments.list_sorting.figures import draw
from heuristic_core.experiments.list_sorting.mode_ablation import ablate_numbers, measure_mode_ablations
from heuristic_core.experiments.list_sorting.model import read_out, run_models


@pytest.fixture(scope="module")
def models():
    """Parameters of two models, held-out sequences, training sequences, and numbers by mode."""
    made = study()
    train, held_out = (make_sequences(part, made.data) for part in draw_lists(made.data))
    parameters = random_parameters(made.data, made.model)
    effects = measure_effects(parameters, held_out, made.data.numbers)
    numbers = {"copying": copied_numbers(effects), "suppression": suppressed_numbers(effects)}
    return parameters, held_out, train, {mode: torch.from_numpy(mask) for mode, mask in numbers.items()}


def select_model(parameters, m):
    return {name: value[m : m + 1] for name, value in parameters.items()}


@pytest.mark.parametrize("where_next", [True, False])
@pytest.mark.parametrize("kind", ["zero", "mean", "resample"])
def test_values_of_the_chosen_numbers_alone_are_replaced(models, kind, where_next):
    """List by list, prediction by prediction, key by key."""
    parameters, tokens, training, numbers = models
    model, tokens = select_model(parameters, 1), tokens[:5]
    chosen = numbers["copying"][1] | numbers["suppression"][1]
    assert chosen.any(1).all() and not chosen.all(1).any()
    donors, length = draw_donors(tokens, training, 0), tokens.shape[1] // 2
    mean = run_models(model, training).values[0].mean(0)
    reference = {"zero": torch.zeros_like(mean), "mean": mean, "resample": donors}[kind]
    result = ablate_numbers(model, tokens, chosen, where_next, reference)
    whole, donated = run_models(model, tokens), run_models(model, donors).values[0]
    contexts = torch.zeros_like(whole.contexts)
    for b, sequence in enumerate(tokens.tolist()):
        for query, following in enumerate(sequence[length + 1 :]):
            for head in range(contexts.shape[3]):
                for key, token in enumerate(sequence[:-1]):
                    replaced = key < length and chosen[head, token] and (token == following) == where_next
                    value = whole.values[0, b, key, head]
                    if replaced:
                        value = {"zero": 0 * value, "mean": mean[key, head], "resample": donated[b, key, head]}[kind]
                    contexts[0, b, query, head] += whole.attention[0, b, head, query, key] * value
    torch.testing.assert_close(result, read_out(model, whole.residual, contexts)[0], rtol=1e-4, atol=1e-4)


def test_without_a_number_nothing_changes(models):
    parameters, tokens, _, numbers = models
    model, none = select_model(parameters, 0), torch.zeros_like(numbers["copying"][0])
    zero = torch.zeros(tokens.shape[1] - 1, 1, 1)
    for where_next in (True, False):
        logits = ablate_numbers(model, tokens, none, where_next, zero)
        torch.testing.assert_close(logits, run_models(model, tokens).logits[0])


def test_there_is_a_row_for_every_mode_set_of_heads_and_kind(models, monkeypatch):
    parameters, tokens, training, numbers = models
    rows = measure_mode_ablations(parameters, tokens, training, numbers, 0)
    identities = [(row["model"], row["mode"], tuple(row["ablated"]), row["kind"]) for row in rows]
    assert len(set(identities)) == len(identities) == 2 * 2 * 3 * 3
    for row in rows:
        of = numbers[row["mode"]][row["model"]]
        assert row["replaced"] == int(of[row["ablated"]].sum())
        if row["kind"] == "zero":
            chosen = torch.zeros_like(of)
            chosen[row["ablated"]] = of[row["ablated"]]
            zero = torch.zeros(tokens.shape[1] - 1, 1, 1)
            expected = compute_measures(
                ablate_numbers(select_model(parameters, row["model"]), tokens, chosen, row["mode"] == "copying", zero),
                tokens,
            )
            assert {name: row[name] for name in expected} == expected
    monkeypatch.setattr(mode_ablation, "BATCH", 7)
    again = measure_mode_ablations(parameters, tokens, training, numbers, 0)
    assert [row["loss"] for row in again] == pytest.approx([row["loss"] for row in rows], abs=1e-5)
    assert measure_ablations(parameters, tokens, training, 0)[0]["loss"] not in [row["loss"] for row in rows]


@pytest.mark.slow
def test_modes_are_ablated_in_all_heads():
    _, marks = draw("figure_ablation", TABLES, Figure())
    tables = [TABLES[f"sorting_{name}"] for name in ("mode_ablations", "ablations")]
    table, of = (filter_rows(item, condition="no-decay", step=LAST) for item in tables)
    for role, mode in (("all copying", "copying"), ("all suppression", "suppression")):
        ablated = filter_rows(table, mode=mode, kind="zero", ablated="0+1").set_index("seed")["loss"]
        changes = ablated - filter_rows(of, kind="none").set_index("seed")["loss"]
        dots = filter_rows(marks, condition="no-decay", role=role, kind="zero", measure="loss").dropna(subset="seed")
        assert dots.set_index("seed")["value"].to_dict() == pytest.approx(changes.to_dict()) and len(dots) == len(SEEDS)
