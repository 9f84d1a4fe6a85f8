"""Pruning: it reaches its sparsity, repeats itself exactly, resumes to the same bytes, and keeps what matters."""

import pytest
import torch
from amounts import first_fast
from conftest import make_encoded
from mentions import raises
from pruning_runs import SETTINGS, SHORT, Killed, prune_run

from heuristic_core.interventions.evaluate import all_logits
from heuristic_core.models.ablation import Mask
from heuristic_core.models.batches import PairTensors
from heuristic_core.models.components import kept_count
from heuristic_core.pruning import hard_concrete
from heuristic_core.pruning.hard_concrete import keep_largest
from heuristic_core.pruning.inputs import PruningInputs, make_pruning_inputs
from heuristic_core.pruning.learner import Learner, PruningRun, learning_rate_factor
from heuristic_core.pruning.prune import Objective, prune


def test_the_same_seed_gives_the_same_run_and_another_seed_another(inputs):
    first, again, other = (prune_run(inputs, 0.4, seed, SHORT) for seed in (1, 1, 2))
    assert torch.equal(first.log_alpha, again.log_alpha)
    assert first.trace == again.trace
    assert not torch.equal(first.log_alpha, other.log_alpha)


@pytest.mark.parametrize("controller", ["sampled", "expected"])
@pytest.mark.parametrize("sparsity", first_fast(0.3, 0.6))
def test_the_controller_brings_the_sparsity_to_its_target(inputs, sparsity, controller):
    settings = SETTINGS.model_copy(update={"rise": 280, "hold": 120, "controller": controller})
    result = prune_run(inputs, sparsity, 3, settings, record_every=1)
    size = len(inputs.model.grid)
    if controller == "sampled":
        last = [row["sampled_sparsity"] for row in result.trace[-40:]]
        assert sum(last) / len(last) == pytest.approx(sparsity, abs=1.5 / size)
    else:
        assert 1 - float(hard_concrete.probability_open(result.log_alpha).mean()) == pytest.approx(
            sparsity, abs=1.5 / size
        )
    assert result.trace[-1]["target_sparsity"] == pytest.approx(sparsity)


@pytest.mark.slow
def test_the_subnetwork_keeps_the_models_answers_better_than_most_random_ones(inputs):
    grid = inputs.model.grid

    def kl(kept):
        mask = torch.zeros(len(grid))
        mask[list(kept)] = 1
        gated = all_logits(inputs.model, inputs.pairs, Mask(mask, inputs.means, grid)).log_softmax(-1)
        full = inputs.full_logits.log_softmax(-1)
        return float((full.exp() * (full - gated)).sum(-1).mean())

    count = kept_count(len(grid), 0.4)
    result = [keep_largest(prune_run(inputs, 0.4, seed, SETTINGS).log_alpha, count) for seed in range(4)]
    draws = torch.Generator().manual_seed(0)
    random = sorted(kl(torch.randperm(len(grid), generator=draws)[:count].tolist()) for _ in range(40))
    ours = sorted(kl(kept) for kept in result)
    assert ours[2] < random[10]  # at least three of four are better than three quarters of the random ones


def test_runs_that_share_a_pass_are_the_runs_alone(inputs):
    runs = [PruningRun(0.4, 1), PruningRun(0.2, 1), PruningRun(0.4, 2)]
    together = prune(inputs, runs, SHORT)
    for run, result in zip(runs, together, strict=True):
        alone = prune_run(inputs, run.sparsity, run.seed, SHORT)
        assert result.run == run
        torch.testing.assert_close(result.log_alpha, alone.log_alpha, atol=1e-4, rtol=0)
        assert result.trace[-1]["kl"] == pytest.approx(alone.trace[-1]["kl"], rel=1e-3)


def test_runs_of_different_length_cannot_share_a_pass(inputs):
    longer = SHORT.model_copy(update={"hold_per_percent": 1.0})
    with raises(ValueError, 0.2, 40, 0.4, 60):
        prune(inputs, [PruningRun(0.2, 1), PruningRun(0.4, 1)], longer)


@pytest.mark.parametrize("dropout", [False, True])
@pytest.mark.parametrize("killed_at", [5, 10, 13, 19])
def test_a_killed_run_resumes_to_the_same_bytes(inputs, tmp_path, monkeypatch, killed_at, dropout):
    settings = SHORT.model_copy(update={"save_every": 5, "gate_draws": 2, "dropout": dropout})
    whole = prune_run(inputs, 0.4, 1, settings, record_every=3)
    state = tmp_path / "state.safetensors"
    compute_gradients = Objective.compute_gradients

    def until(self, learner, draw):
        if draw.step == killed_at:
            raise Killed
        return compute_gradients(self, learner, draw)

    monkeypatch.setattr(Objective, "compute_gradients", until)
    with pytest.raises(Killed):
        prune_run(inputs, 0.4, 1, settings, state=state, record_every=3)
    monkeypatch.setattr(Objective, "compute_gradients", compute_gradients)
    torch.rand(7)  # whatever the global generator did meanwhile
    resumed = prune_run(inputs, 0.4, 1, settings, state=state, record_every=3)
    assert resumed.log_alpha.numpy().tobytes() == whole.log_alpha.numpy().tobytes()
    assert resumed.trace == whole.trace


def test_the_saved_state_of_a_run_at_the_papers_scale_is_small(tmp_path):
    """BERT-base's 156 components, a record every 10 of 9,300 steps."""
    learner = Learner([PruningRun(0.5, 1)], SETTINGS, 156, torch.device("cpu"))
    learner.log_alpha.grad, learner.lambdas.grad = torch.zeros(1, 156), torch.zeros(1, 2)
    learner.advance()
    learner.record({step: torch.zeros(1, 6) for step in range(0, 9300, 10)})
    learner.save(tmp_path / "state.safetensors")
    assert (tmp_path / "state.safetensors").stat().st_size < 60_000


def test_runs_with_dropout_cannot_share_a_pass(inputs):
    with raises(ValueError, "dropout", 2):
        prune(inputs, [PruningRun(0.4, 1), PruningRun(0.4, 2)], SHORT.model_copy(update={"dropout": True}))


@pytest.mark.slow
def test_each_choice_of_the_released_code_changes_the_run(inputs):
    """Every setting where paper and code differ does something, alone."""
    plain = SETTINGS.model_copy(update={"rise": 30, "hold": 10, "weight_decay": 0.0, "controller_weight_decay": 0.0})
    before = prune_run(inputs, 0.4, 1, plain).log_alpha
    choices = {
        "weight_decay": 0.01,
        "controller_weight_decay": 0.5,
        "controller": "expected",
        "dropout": True,
        "gate_draws": 4,
        "decay": "after-warmup",
    }
    for key, value in choices.items():
        assert not torch.equal(prune_run(inputs, 0.4, 1, plain.model_copy(update={key: value})).log_alpha, before), key


def test_weight_decay_alone_pulls_log_alpha_towards_zero(inputs):
    """The paper's hidden force: without any gradient log_alpha still falls."""
    settings = SHORT.model_copy(update={"weight_decay": 0.01})
    learner = Learner([PruningRun(0.4, 1)], settings, 5, torch.device("cpu"))
    learner.log_alpha.grad, learner.lambdas.grad = torch.zeros(1, 5), torch.zeros(1, 2)
    before = learner.log_alpha.detach().clone()
    learner.advance()
    assert (learner.log_alpha.detach() < before).all()


def test_learning_rates_warm_up_and_decay():
    after = SETTINGS.model_copy(update={"warmup_steps": 10, "decay": "after-warmup"})
    assert [learning_rate_factor(s, 110, after) for s in (0, 4, 9, 60, 109)] == pytest.approx(
        [0.1, 0.5, 1.0, 0.5, 0.01]
    )
    start = after.model_copy(update={"decay": "from-start"})
    assert [learning_rate_factor(s, 110, start) for s in (0, 9, 55, 109)] == pytest.approx(
        [0.1, 101 / 110, 0.5, 1 / 110]
    )


def test_the_papers_schedule_depends_on_the_sparsity():
    paper = SETTINGS.model_copy(update={"rise": 6500, "rise_per_percent": 50.0, "hold": 0, "hold_per_percent": 6.0})
    assert (paper.rise_steps(0.5), paper.total_steps(0.5), paper.total_steps(0.7)) == (9000, 9300, 10420)


def test_bfloat16_weights_keep_float32_gates_and_come_close(inputs, checkpoint):
    from heuristic_core.models.implementation import load_model

    rough = PruningInputs(load_model(checkpoint, precision="bfloat16"), inputs.means, inputs.pairs, inputs.full_logits)
    result, exact = prune_run(rough, 0.4, 1, SHORT), prune_run(inputs, 0.4, 1, SHORT)
    assert result.log_alpha.dtype == torch.float32
    assert not torch.equal(result.log_alpha, exact.log_alpha)
    assert float((result.log_alpha - exact.log_alpha).abs().mean()) < 0.1  # 20 steps move log_alpha by about 1


def test_held_out_pairs_follow_those_that_pruning_draws(fused, inputs):
    train = make_encoded(30, seed=9)
    logits = torch.arange(90.0).view(30, 3)
    settings = SETTINGS.model_copy(update={"examples": 20, "held_out": 10, "discretise": "threshold"})
    used, held_out = make_pruning_inputs(fused, inputs.means, train, logits, settings)
    assert (len(used.pairs), len(held_out.pairs)) == (20, 10)
    assert held_out.full_logits[0].tolist() == [60, 61, 62]
    assert torch.equal(held_out.pairs.lengths, PairTensors(train).lengths[20:])
    ids = held_out.pairs.batch(torch.tensor([0])).ids[0].tolist()
    assert ids == train.ids[train.offsets[20] : train.offsets[21]].tolist()
    assert (
        make_pruning_inputs(fused, inputs.means, train, logits, SETTINGS.model_copy(update={"examples": 20}))[1] is None
    )
