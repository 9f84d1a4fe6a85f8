"""Planted competition: halves of the heads are trained in turn, on batches of their own."""

import torch
from conftest import make_encoded
from test_finetune import LABELS, MODEL, SETTINGS

from heuristic_core.config.blocks import Competition
from heuristic_core.models.batches import PairTensors
from heuristic_core.models.pretrained import build_classifier
from heuristic_core.training.competition import (
    GENERAL_HALF,
    HEURISTIC_HALF,
    CompetitionBatches,
    CompetitionStepper,
    Turn,
)
from heuristic_core.training.finetune import finetune

SHARED = SETTINGS.model_copy(update={"competition": Competition(counter_examples=0.5), "dropout": 0.0})
IS_COUNTER_EXAMPLE = torch.arange(50) % 10 == 0


def test_only_batches_of_the_second_half_have_counter_examples():
    batches = CompetitionBatches(IS_COUNTER_EXAMPLE, 8, 1, SHARED.competition)
    turns = [batches.at(step) for step in range(6)]
    assert [turn.half for turn in turns] == [HEURISTIC_HALF, GENERAL_HALF, None] * 2
    assert [int(IS_COUNTER_EXAMPLE[turn.index].sum()) for turn in turns] == [0, 4, 0] * 2
    assert torch.equal(turns[3].index, CompetitionBatches(IS_COUNTER_EXAMPLE, 8, 1, SHARED.competition).at(3).index)
    assert not torch.equal(turns[3].index, turns[0].index)


def test_a_step_of_one_half_has_no_gradient_on_the_other_and_leaves_no_hook():
    model = build_classifier(MODEL, LABELS, 50, 0, 1, 0.0)
    stepper = CompetitionStepper(model, PairTensors(make_encoded(50)), SHARED)
    outputs = [layer.attention.output.dense for layer in model.bert.encoder.layer]
    values = [layer.attention.self.value for layer in model.bert.encoder.layer]
    for half, (open_rows, closed_rows) in ((0, (slice(0, 8), slice(8, 16))), (1, (slice(8, 16), slice(0, 8)))):
        stepper.step(Turn(half, torch.arange(8)), 1e-3)
        for output, value in zip(outputs, values, strict=True):
            assert not output.weight.grad[:, closed_rows].any() and not value.weight.grad[closed_rows].any()
            assert output.weight.grad[:, open_rows].any() and value.weight.grad[open_rows].any()
    stepper.step(Turn(None, torch.arange(8)), 1e-3)
    assert all(output.weight.grad.any(0).all() for output in outputs)
    assert not any(output._forward_pre_hooks for output in outputs)


def test_a_run_in_turns_learns_and_repeats_itself(tmp_path):
    def train(name):
        model = build_classifier(MODEL, LABELS, 50, 0, 1, 0.0)
        state, logits = tmp_path / name, {}
        sets = make_encoded(50), make_encoded(30, seed=1)
        finetune(model, *sets, SHARED, 1, lambda step: [], logits.__setitem__, state, "float32", IS_COUNTER_EXAMPLE)
        return logits

    first, second = train("a"), train("b")
    assert all(torch.equal(first[step], second[step]) for step in first)
    assert not torch.equal(first[0], first[24])
