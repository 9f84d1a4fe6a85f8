"""Pruning with components closed: they are never open, learned of or kept, and nothing else changes."""

import hashlib
import json

import numpy as np
import pytest
import torch
from mentions import raises
from pruning_runs import SHORT, prune_run

from heuristic_core.common.errors import InputError
from heuristic_core.interventions.evaluate import all_logits
from heuristic_core.models.components import kept_count
from heuristic_core.pruning import hard_concrete
from heuristic_core.pruning.discretise import discretise
from heuristic_core.pruning.gated_model import GatedModel
from heuristic_core.pruning.learner import Learner, PruningRun
from heuristic_core.pruning.prune import Objective, prune
from heuristic_core.pruning.subnetwork import Subnetwork, load_run
from heuristic_core.tables.identity import Identity

CLOSED = (1, 6, 13)  # two heads and the MLP of layer 1, of 3 layers x 4 heads
OPEN = SHORT.model_copy(update={"log_alpha_mean": 0.0, "log_alpha_std": 1.0})


def make_learner(*closed, settings=OPEN, size=15):
    return Learner([PruningRun(0.4, 1, prune_run) for prune_run in closed], settings, size, torch.device("cpu"))


@pytest.mark.parametrize("controller", ["sampled", "expected"])
def test_closed_components_have_no_gradient_and_count_as_removed(inputs, controller):
    settings = OPEN.model_copy(update={"controller": controller, "gate_draws": 2})
    learner = make_learner(CLOSED, settings=settings)
    draw = learner.make_draws(4, len(inputs.pairs))[3]
    row = Objective(inputs, learner.runs, settings).compute_gradients(learner, draw)
    gradient = learner.log_alpha.grad[0]
    assert (gradient[list(CLOSED)] == 0).all() and (gradient != 0).sum() > 6
    z = hard_concrete.sample_gates(learner.log_alpha.detach()[0], draw.noise[0])
    z[:, list(CLOSED)] = 0
    assert float(row[0, 1]) == pytest.approx(float(1 - z.mean()), abs=1e-6)
    if controller == "expected":
        opened = hard_concrete.probability_open(learner.log_alpha.detach()[0])
        opened[list(CLOSED)] = 0
        target, expected = float(draw.target[0]), 1 - float(opened.mean())
        assert float(learner.lambdas.grad[0, 0]) == pytest.approx(target - expected, abs=1e-6)


def test_the_target_rises_from_the_share_that_is_closed():
    """Below it no gates can reach the target."""
    targets = [draw.target.tolist() for draw in make_learner((), CLOSED).make_draws(OPEN.total_steps(0.4), 20)]
    rise = OPEN.rise_steps(0.4)
    assert targets[0] == pytest.approx([0.0, 3 / 15]) and targets[rise] == pytest.approx([0.4, 0.4])
    assert targets[rise // 2][1] - 3 / 15 == pytest.approx((0.4 - 3 / 15) * (rise // 2) / rise)


def test_the_forward_pass_of_a_step_is_that_of_the_physically_smaller_model(inputs):
    """Gates that are open but for the closed ones: the logits of the model from which these are cut."""
    learner = make_learner(CLOSED)
    with torch.no_grad():
        learner.log_alpha.fill_(40.0)
    z = hard_concrete.sample_gates(learner.log_alpha, torch.full((1, 15), 0.5)) * learner.is_free
    smaller = inputs.model.remove_components(list(CLOSED), inputs.means.heads, inputs.means.mlps)
    gated = GatedModel(inputs.model, z, inputs.means)
    for index in torch.arange(len(inputs.pairs)).split(20):
        batch = inputs.pairs.batch(index)
        expected = smaller.logits(batch)
        torch.testing.assert_close(gated.logits(batch, torch.zeros(len(index), dtype=torch.long)), expected)
    full = torch.log_softmax(inputs.full_logits, -1)
    draw = learner.make_draws(1, len(inputs.pairs))[0]
    row = Objective(inputs, learner.runs, OPEN).compute_gradients(learner, draw)
    index = draw.index[0]
    left = torch.log_softmax(all_logits(smaller, inputs.pairs), -1)[index]
    kl = (full[index].exp() * (full[index] - left)).sum(-1).mean()
    assert float(row[0, 0]) == pytest.approx(float(kl), rel=1e-4) and float(kl) > 0.01


@pytest.mark.parametrize("rule", ["exact", "threshold"])
@pytest.mark.parametrize("sparsity", [0.4, 0.7])
def test_closed_components_are_never_kept(inputs, rule, sparsity):
    """The components of largest log_alpha are closed: they would be kept otherwise."""
    settings = SHORT.model_copy(update={"discretise": rule})
    log_alpha = prune_run(inputs, sparsity, 1, settings).log_alpha
    grid, largest = inputs.model.grid, tuple(sorted(torch.argsort(log_alpha, descending=True)[:4].tolist()))
    (result,) = prune(inputs, [PruningRun(sparsity, 1, largest)], settings)
    for alphas in (log_alpha, result.log_alpha):
        kept = discretise(alphas, grid, sparsity, settings, inputs, largest).components
        assert not set(kept) & set(largest)
        if rule == "exact":
            assert len(kept) == kept_count(len(grid), sparsity)


def test_an_exact_subnetwork_needs_room(inputs):
    with raises(InputError, 9, 8, 15):
        discretise(torch.zeros(15), inputs.model.grid, 0.4, SHORT, None, tuple(range(7)))


def test_runs_without_closed_components_keep_their_numbers_beside_others(inputs):
    """Whether any run of a pass has closed some changes no bit of the step of a run that has none."""
    alone, beside = make_learner(()), make_learner((), ())
    beside.is_free = torch.ones(2, 15)
    draws = [learner.make_draws(1, len(inputs.pairs))[0] for learner in (alone, beside)]
    rows = [
        Objective(inputs, of.runs, OPEN).compute_gradients(of, draw)
        for of, draw in zip((alone, beside), draws, strict=True)
    ]
    assert alone.is_free is None
    single = make_learner(())
    single.is_free = torch.ones(1, 15)
    row = Objective(inputs, single.runs, OPEN).compute_gradients(single, draws[0])
    assert torch.equal(row, rows[0]) and torch.equal(single.log_alpha.grad, alone.log_alpha.grad)
    torch.testing.assert_close(rows[1][0], rows[0][0], atol=1e-5, rtol=1e-5)


def test_runs_with_different_closed_sets_share_a_pass(inputs):
    runs = [PruningRun(0.4, 1), PruningRun(0.4, 1, CLOSED), PruningRun(0.4, 2, (0, 5))]
    for run, result in zip(runs, prune(inputs, runs, SHORT), strict=True):
        (alone,) = prune(inputs, [run], SHORT)
        torch.testing.assert_close(result.log_alpha, alone.log_alpha, atol=1e-4, rtol=0)
        assert result.trace[-1]["kl"] == pytest.approx(alone.trace[-1]["kl"], rel=1e-3)
    plain = prune_run(inputs, 0.4, 1, SHORT)
    assert not torch.allclose(plain.log_alpha, result.log_alpha)


def test_a_subnetwork_remembers_what_was_closed_and_a_plain_file_has_no_word_of_it(tmp_path):
    run, alphas = Identity("s", "m", "t", 1, 10, 0.4, 5), tuple(np.linspace(-1, 1, 6).tolist())
    closed = Subnetwork(run, 2, 2, (0, 5), alphas, closed=(1, 3))
    closed.save(tmp_path / "closed.json")
    assert load_run(tmp_path / "closed.json") == closed
    Subnetwork(run, 2, 2, (0, 5), alphas).save(tmp_path / "plain.json")
    written = (tmp_path / "plain.json").read_bytes()
    assert "closed" not in json.loads(written)
    assert hashlib.sha256(written).hexdigest() == PLAIN
    assert load_run(tmp_path / "plain.json").closed == ()
    with raises(ValueError, [0]):
        Subnetwork(run, 2, 2, (0, 5), alphas, closed=(0, 3))


# Of the file as it was before runs could close components.
PLAIN = "6ebd9eaa1e39883d8d7b7c6a3dd77e6933af48684ff9b5d965f208c628e9e1d3"
