"""Planted competition: halves of the heads are trained in turn, on batches of their own."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from conftest import ROOT, make_encoded
from mentions import raises
from test_finetune import LABELS, MODEL, SETTINGS, Cut, same

from heuristic_core.config.blocks import Competition
from heuristic_core.config.reading import ConfigError, read_merged_configs
from heuristic_core.experiments.subnetworks.config import parse_study
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
IS_COUNTER_EXAMPLE = np.arange(50) % 10 == 0
# Every tenth pair is a counter-example; the others include neutral pairs made from one.
TRAIN = replace(
    make_encoded(50),
    template=np.where(IS_COUNTER_EXAMPLE, 0, 1).astype(np.int32),
    templates=("ln_prep", "ln_prep, new words"),
)


def test_only_batches_of_the_second_half_have_counter_examples():
    batches = CompetitionBatches(TRAIN, 1, SHARED)
    turns = [batches.at(step) for step in range(6)]
    assert [turn.half for turn in turns] == [HEURISTIC_HALF, GENERAL_HALF] * 3
    assert [int(IS_COUNTER_EXAMPLE[turn.index].sum()) for turn in turns] == [0, 4] * 3
    assert torch.equal(turns[3].index, CompetitionBatches(TRAIN, 1, SHARED).at(3).index)
    assert not torch.equal(turns[3].index, turns[1].index)


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
    assert not any(output._forward_pre_hooks for output in outputs)


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
    ],
)
def test_settings_without_a_competition_are_refused(changes, named):
    values = read_merged_configs([ROOT / "config.yaml", ROOT / "config/controls/competition.yaml"])
    assert parse_study(values).finetune.competition.counter_examples == 0.5
    with raises(ConfigError, named):
        parse_study(values | {key: values.get(key, {}) | block for key, block in changes.items()})
