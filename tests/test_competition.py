"""Planted competition: halves of the heads are trained in turn, on batches of their own."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from conftest import ROOT, make_encoded
from mentions import raises
from test_finetune import LABELS, MODEL, SETTINGS, Cut, same
from torch.testing import assert_close

from heuristic_core.config.blocks import Competition
from heuristic_core.config.reading import ConfigError, read_merged_configs
from heuristic_core.experiments.subnetworks.config import parse_study
from heuristic_core.models.batches import PairTensors
from heuristic_core.models.pretrained import build_classifier
from heuristic_core.training.competition import (
    ALL_HEADS,
    EVEN_HEADS,
    MIXTURE,
    ODD_HEADS,
    TURNS,
    CompetitionBatches,
    CompetitionStepper,
    Turn,
)
from heuristic_core.training.finetune import finetune

SHARED = SETTINGS.model_copy(update={"competition": Competition(counter_examples=0.5), "dropout": 0.0})
ODD = {"layers": 2, "heads": 3, "hidden": 24, "feed_forward": 8, "positions": 24}
IS_COUNTER_EXAMPLE = np.arange(50) % 10 == 0
# Every tenth pair is a counter-example; the others include neutral pairs made from one.
TRAIN = replace(
    make_encoded(50),
    template=np.where(IS_COUNTER_EXAMPLE, 0, 1).astype(np.int32),
    templates=("ln_prep", "ln_prep, new words"),
)


def test_turns_train_halves_all_heads_and_mixtures():
    batches = CompetitionBatches(TRAIN, 1, SHARED, (2, 4))
    turns = [batches.at(step) for step in range(8)]
    assert [turn.number for turn in turns] == [*TURNS] * 2
    assert [int(IS_COUNTER_EXAMPLE[turn.index].sum()) for turn in turns] == [0, 4, 4, 4] * 2
    even = torch.tensor([[True, False] * 2] * 2)
    assert all(map(torch.equal, (turn.trained for turn in turns[:3]), (even, ~even, even | True)))
    assert not torch.equal(turns[3].trained, turns[7].trained)
    assert all(map(torch.equal, turns[7][1:], CompetitionBatches(TRAIN, 1, SHARED, (2, 4)).at(7)[1:]))


def make_stepper():
    model = build_classifier(MODEL, LABELS, 50, 0, 1, 0.0)
    return model, CompetitionStepper(model, PairTensors(make_encoded(50)), SHARED)


def test_even_heads_start_as_copies_of_odd_ones():
    for layer in make_stepper()[0].bert.encoder.layer:
        attention, columns = layer.attention.self, layer.attention.output.dense.weight.T
        for rows in (attention.query.weight, attention.key.bias, attention.value.weight, columns):
            assert torch.equal(rows[:8], rows[8:])


def test_a_step_trains_the_heads_of_its_turn_and_neither_embeddings_nor_norms():
    model, stepper = make_stepper()
    layers, fixed = model.bert.encoder.layer, ("embeddings", "LayerNorm")
    for name, weight in model.named_parameters():
        assert weight.requires_grad != any(part in name for part in fixed), name
    for number, heads in ((EVEN_HEADS, [True, False]), (ODD_HEADS, [False, True]), (ALL_HEADS, [True, True])):
        trained = torch.tensor([heads] * len(layers))
        stepper.step(Turn(number, trained, torch.arange(8)), 1e-3)
        for layer in layers:
            for head, rows in enumerate((slice(0, 8), slice(8, 16))):
                parts = layer.attention.output.dense.weight.grad[:, rows], layer.attention.self.value.weight.grad[rows]
                assert {bool(part.any()) for part in parts} == {heads[head]}
    assert not any(layer.attention.output.dense._forward_pre_hooks for layer in layers)


def test_heads_that_are_not_trained_are_at_their_means():
    model, stepper = make_stepper()
    output, seen = model.bert.encoder.layer[0].attention.output.dense, []
    output.register_forward_pre_hook(lambda module, inputs: seen.append(inputs[0].clone()))
    ids = torch.randint(5, 50, (4, 6))
    with stepper._hold_constant(torch.tensor([[True, False]] * len(model.bert.encoder.layer))):
        output.register_forward_hook(lambda module, inputs, result: seen.append(result))
        model(ids)
    contexts, result = seen
    contexts[..., :8] = contexts[..., :8].mean((0, 1))
    assert_close(result, contexts @ output.weight.T + output.bias)


def test_mixtures_are_trained_towards_equal_probabilities():
    model, stepper = make_stepper()
    turn = Turn(MIXTURE, torch.ones(len(model.bert.encoder.layer), 2, dtype=torch.bool), torch.arange(8))
    losses = [stepper.step(turn, 1e-2) for _ in range(60)]
    assert losses[-1] < losses[0]
    assert losses[-1] == pytest.approx(np.log(len(LABELS)), abs=1e-3)


def train(state, cut_at=None):
    model = build_classifier(MODEL, LABELS, 50, 0, 1, 0.0)

    def keep(step):
        if step == cut_at:
            raise Cut

    finetune(model, TRAIN, make_encoded(30, seed=1), SHARED, 1, keep, {}.__setitem__, state)
    return model.state_dict()


def test_a_run_that_is_cut_off_ends_with_the_weights_of_an_uninterrupted_one(tmp_path):
    with pytest.raises(Cut):
        train(tmp_path / "cut", cut_at=12)
    assert same(train(tmp_path / "cut"), train(tmp_path / "whole"))


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"task": {"counter_examples": 0.0}}, "task.counter_examples"),
        ({"task": {"random_labels": True}}, "finetune.competition"),
        ({"finetune": {"competition": {"counter_examples": 0.001}}}, "finetune.competition.counter_examples"),
        ({"finetune": {"competition": {"counter_examples": 1.0}}}, "finetune.competition.counter_examples"),
        ({"lesion": {}}, "lesion"),
        ({"model": {"name": "new", "source": "new", "architecture": ODD}}, "model.architecture.heads"),
    ],
)
def test_settings_without_a_competition_are_refused(changes, named):
    values = read_merged_configs([ROOT / "config.yaml", ROOT / "config/controls/competition.yaml"])
    assert parse_study(values).finetune.competition.counter_examples == 0.5
    with raises(ConfigError, named):
        parse_study(values | {k: block if k == "model" else values.get(k, {}) | block for k, block in changes.items()})
