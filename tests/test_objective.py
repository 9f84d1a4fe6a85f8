"""One step of pruning: its loss and gradients, written down again and by finite differences."""

import pytest
import torch
from pruning_runs import SHORT

from heuristic_core.models.ablation import Ablation
from heuristic_core.models.micro_batches import PASS_TOKENS, pass_tokens
from heuristic_core.pruning import hard_concrete
from heuristic_core.pruning.learner import Learner, PruningRun
from heuristic_core.pruning.prune import Objective


@pytest.mark.parametrize("draws", [1, 2, 4])
def test_a_step_is_the_plain_objective(inputs, draws):
    """Loss and gradients of one step, written down again with one gate vector per group of pairs and one backward."""
    settings = SHORT.model_copy(update={"gate_draws": draws, "log_alpha_mean": 0.0, "log_alpha_std": 1.0})
    learner = Learner([PruningRun(0.4, 1)], settings, len(inputs.model.grid), torch.device("cpu"))
    with torch.no_grad():
        learner.lambdas.copy_(torch.tensor([[0.3, -0.2]]))
    draw = learner.make_draws(8, len(inputs.pairs))[7]
    row = Objective(inputs, learner.runs, settings).compute_gradients(learner, draw)

    log_alpha, lambdas = (t.detach()[0].clone().requires_grad_() for t in (learner.log_alpha, learner.lambdas))
    loss, kls, removed = 0.0, [], []
    for group, uniform in zip(draw.index[0].chunk(draws), draw.noise[0], strict=True):
        z = hard_concrete.sample_gates(log_alpha, uniform)
        edit = Ablation(z, inputs.means, inputs.model.grid)
        gated = inputs.model.logits(inputs.pairs.batch(group), edit).log_softmax(-1)
        full = inputs.full_logits[group].log_softmax(-1)
        kls.append((full.exp() * (full - gated)).sum(-1).mean())
        removed.append(1 - z.mean())
        target = 0.4 * 7 / 14
        loss = loss + (kls[-1] + lambdas[0] * (target - removed[-1]) + lambdas[1] * (target - removed[-1]) ** 2) / draws
    loss.backward()
    torch.testing.assert_close(learner.log_alpha.grad[0], log_alpha.grad, atol=1e-6, rtol=1e-4)
    torch.testing.assert_close(learner.lambdas.grad[0], lambdas.grad, atol=1e-6, rtol=1e-4)
    expected = [
        float(sum(kls).detach()) / draws,
        float(sum(removed).detach()) / draws,
        target,
        0.3,
        -0.2,
        float(log_alpha.detach().mean()),
    ]
    assert row[0].tolist() == pytest.approx(expected, abs=1e-5)


def test_gradients_of_the_objective_against_finite_differences(inputs):
    settings = SHORT.model_copy(update={"log_alpha_mean": 0.0, "gate_draws": 2})
    learner = Learner([PruningRun(0.4, 1)], settings, len(inputs.model.grid), torch.device("cpu"))
    objective, draw = Objective(inputs, learner.runs, settings), learner.make_draws(3, len(inputs.pairs))[2]
    with torch.no_grad():
        learner.lambdas.copy_(torch.tensor([[0.5, 0.7]]))
    objective.compute_gradients(learner, draw)
    slope, point = learner.log_alpha.grad.clone(), learner.log_alpha.detach().clone()

    def loss(alphas):
        with torch.no_grad():
            learner.log_alpha.copy_(alphas)
        kl, _, target = objective.compute_gradients(learner, draw)[0, :3].double().tolist()
        gaps = target - (1 - hard_concrete.sample_gates(alphas[0], draw.noise[0]).mean(-1)).double()
        return kl + float((0.5 * gaps + 0.7 * gaps**2).mean())

    for direction in torch.eye(len(inputs.model.grid))[::3]:
        step = 1e-2
        numeric = (loss(point + step * direction) - loss(point - step * direction)) / (2 * step)
        assert numeric == pytest.approx(float(slope[0] @ direction), abs=2e-3)


def test_wider_models_have_shorter_passes_on_a_cpu():
    of_width = {hidden: pass_tokens("cpu", hidden) for hidden in (64, 384, 512, 768, 1024)}
    assert of_width == {64: 1024, 384: 512, 512: 384, 768: 256, 1024: 256}
    assert pass_tokens("cuda", 768) == pass_tokens("cuda", 64) == PASS_TOKENS["cuda"]


def test_length_sorted_passes_change_neither_the_batch_nor_whose_gates_a_pair_has(inputs, monkeypatch):
    """With passes of a few tokens the same step comes out, though pairs of different samples share a pass."""
    settings = SHORT.model_copy(update={"gate_draws": 4, "log_alpha_mean": 0.0, "log_alpha_std": 1.0})
    gradients = []
    for tokens in (10_000, 40):
        monkeypatch.setitem(PASS_TOKENS, "cpu", tokens)
        learner = Learner([PruningRun(0.4, 1)], settings, len(inputs.model.grid), torch.device("cpu"))
        draw = learner.make_draws(1, len(inputs.pairs))[0]
        Objective(inputs, learner.runs, settings).compute_gradients(learner, draw)
        gradients.append(learner.log_alpha.grad)
    torch.testing.assert_close(*gradients, atol=1e-6, rtol=1e-4)
