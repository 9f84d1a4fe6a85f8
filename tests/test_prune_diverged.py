"""Pruning runs that diverge fail alone and with a reason; what all runs share must be finite."""

import pytest
import torch
from conftest import make_encoded
from mentions import mentions, raises
from pruning_runs import SHORT, Killed, prune_run

from heuristic_core.common.errors import DivergenceError, InputError
from heuristic_core.models.ablation import ComponentMeans
from heuristic_core.pruning.inputs import PruningInputs, make_pruning_inputs
from heuristic_core.pruning.learner import Learner, PruningRun
from heuristic_core.pruning.prune import Objective, prune


@pytest.fixture
def diverging(monkeypatch):
    """From step 7 on the log_alpha of pruning seed 2 is no number."""
    advance = Learner.advance

    def broken(self):
        advance(self)
        for r, run in enumerate(self.runs):
            if run.seed == 2 and self.step > 7:
                with torch.no_grad():
                    self.log_alpha[r] = torch.nan

    monkeypatch.setattr(Learner, "advance", broken)


def test_a_run_that_diverges_fails_with_a_reason_and_the_trace_up_to_there(inputs, diverging):
    result = prune_run(inputs, 0.4, 2, SHORT, record_every=3)
    assert mentions(result.failure, 9, "kl", "nan")
    assert [row["prune_step"] for row in result.trace] == [0, 3, 6]
    late = prune_run(
        inputs, 0.4, 2, SHORT.model_copy(update={"rise": 4, "hold": 4}), record_every=3
    )  # after the last record
    assert mentions(late.failure, 8, "log_alpha") and late.trace[-1]["prune_step"] == 7


@pytest.mark.parametrize("save_every", [5, 50])
def test_a_run_that_diverges_leaves_the_others_of_its_pass_what_they_are_alone(
    inputs, diverging, tmp_path, monkeypatch, save_every
):
    settings = SHORT.model_copy(update={"save_every": save_every})
    runs = [PruningRun(0.4, 2), PruningRun(0.4, 1), PruningRun(0.4, 3)]
    together = prune(inputs, runs, settings)
    assert [bool(result.failure) for result in together] == [True, False, False]
    for result in together[1:]:
        alone = prune_run(inputs, 0.4, result.run.seed, settings)
        torch.testing.assert_close(result.log_alpha, alone.log_alpha, atol=1e-4, rtol=0)
        assert [row["prune_step"] for row in result.trace] == [row["prune_step"] for row in alone.trace]
    compute_gradients = Objective.compute_gradients

    def until(self, learner, draw):
        if draw.step == 16:
            raise Killed
        return compute_gradients(self, learner, draw)

    monkeypatch.setattr(Objective, "compute_gradients", until)
    with pytest.raises(Killed):
        prune(inputs, runs, settings, tmp_path / "state")
    monkeypatch.setattr(Objective, "compute_gradients", compute_gradients)
    resumed = prune(inputs, runs, settings, tmp_path / "state")
    for before, after in zip(together, resumed, strict=True):
        assert (before.failure, before.trace) == (after.failure, after.trace)
        assert before.log_alpha.numpy().tobytes() == after.log_alpha.numpy().tobytes()


def test_runs_that_all_diverge_end_there(inputs, monkeypatch):
    """For real: a step of the controller overflows, and the sparsity's gradient with it."""
    steps = []
    compute_gradients = Objective.compute_gradients
    monkeypatch.setattr(
        Objective, "compute_gradients", lambda *inputs: steps.append(inputs[2].step) or compute_gradients(*inputs)
    )
    wild = SHORT.model_copy(update={"controller_learning_rate": 3e37, "warmup_steps": 0, "hold": 200, "save_every": 20})
    result = prune(inputs, [PruningRun(0.4, 1), PruningRun(0.4, 2)], wild)
    assert all(run.failure for run in result)
    assert len(steps) < 100 < wild.total_steps(0.4)


def test_what_all_runs_share_is_an_error_where_it_is_not_finite(inputs, tmp_path):
    logits = inputs.full_logits.clone()
    logits[3, 1] = torch.nan
    with raises(InputError, "logits", 1, 60):
        make_pruning_inputs(inputs.model, inputs.means, make_encoded(60), logits, SHORT)
    broken = PruningInputs(inputs.model, inputs.means, inputs.pairs, inputs.full_logits * torch.nan)
    with raises(DivergenceError, 0, "kl", "nan"):
        prune(broken, [PruningRun(0.4, 0), PruningRun(0.4, 1)], SHORT)
    heads = inputs.means.heads.clone()
    heads[0, 0, 0] = torch.inf
    ComponentMeans(heads, inputs.means.mlps).save(tmp_path / "means.safetensors")
    with raises(InputError, "means.safetensors"):
        ComponentMeans.load(tmp_path / "means.safetensors")
