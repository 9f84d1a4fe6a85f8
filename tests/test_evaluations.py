"""Evaluations beside training: copies, order, and errors."""

import threading

import pytest
import torch
from families import make_model

from heuristic_core.training.evaluations import Evaluations


@pytest.fixture
def model():
    return make_model("bert")


def test_an_evaluation_is_of_the_model_at_its_step(model):
    go, seen = threading.Event(), {}

    def evaluate(step, copy):
        go.wait(10)
        seen[step] = copy._weights["classifier.bias"].clone()

    before = model.classifier.bias.detach().clone()
    with Evaluations(evaluate, "float32") as evaluations:
        evaluations.start(1, model)
        with torch.no_grad():
            model.classifier.bias.add_(1)  # training goes on
        go.set()
    assert torch.equal(seen[1], before)


def test_earlier_evaluations_are_waited_for_and_collected_once(model):
    go = threading.Event()
    with Evaluations(lambda step, copy: go.wait(10) and 10 * step, "float32") as evaluations:
        evaluations.start(1, model)
        assert evaluations.collect(before=1) == {}  # still runs, and is of no earlier step
        go.set()
        assert evaluations.collect(before=2) == {1: 10}
        evaluations.start(2, model)
        assert evaluations.collect() == {2: 20}
        assert evaluations.collect() == {}


@pytest.mark.parametrize("then", ["start", "collect"])
def test_the_error_of_an_evaluation_is_raised(model, then):
    def fail(step, copy):
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"), Evaluations(fail, "float32") as evaluations:
        evaluations.start(1, model)
        evaluations.start(2, model) if then == "start" else evaluations.collect()


def test_an_error_of_training_does_not_hide_that_of_an_evaluation(model, caplog):
    def fail(step, copy):
        raise OSError("disk full")

    with pytest.raises(ZeroDivisionError), Evaluations(fail, "float32") as evaluations:
        evaluations.start(1, model)
        raise ZeroDivisionError
    assert "disk full" in caplog.text
