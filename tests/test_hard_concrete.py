"""Hard-concrete gates and the controller against what can be worked out by hand."""

import math

import pytest
import torch
from amounts import first_fast
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import expit, logit

from heuristic_core.config.pruning import Prune
from heuristic_core.pruning import hard_concrete
from heuristic_core.pruning.learner import Learner, PruningRun

LOG_ALPHA = st.floats(-8, 8)
TEMPERATURE = st.floats(0.2, 2.0)
STRETCH = st.tuples(st.floats(-0.5, -0.02), st.floats(1.02, 1.5))
UNIFORM = (torch.arange(100_000, dtype=torch.float64) + 0.5) / 100_000  # stratified: shares are exact to 1 / n


@given(LOG_ALPHA, TEMPERATURE, STRETCH)
def test_share_of_open_gates_is_the_analytic_probability(log_alpha, temperature, stretch):
    a = torch.tensor(log_alpha, dtype=torch.float64)
    z = hard_concrete.sample_gates(a, UNIFORM, temperature, *stretch)
    expected = float(hard_concrete.probability_open(a, temperature, *stretch))
    low, high = stretch
    assert float((z > 0).double().mean()) == pytest.approx(expected, abs=1e-4)
    assert expected == pytest.approx(1 / (1 + math.exp(-(log_alpha - temperature * math.log(-low / high)))))


@given(LOG_ALPHA, TEMPERATURE, STRETCH)
def test_mean_gate_is_the_integral_of_its_distribution(log_alpha, temperature, stretch):
    """E[z] is the integral of P(z > t) over t in [0, 1], P(z > t) = sigmoid(log_alpha - T logit((t - l) / (r - l)))."""
    low, high = stretch
    z = hard_concrete.sample_gates(torch.tensor(log_alpha, dtype=torch.float64), UNIFORM, temperature, low, high)
    expected, _ = quad(lambda t: expit(log_alpha - temperature * logit((t - low) / (high - low))), 0, 1)
    assert float(z.mean()) == pytest.approx(expected, abs=1e-4)


def test_the_defaults_are_the_papers():
    assert (hard_concrete.LOW, hard_concrete.HIGH, hard_concrete.TEMPERATURE, hard_concrete.EPSILON) == (
        -0.1,
        1.1,
        2 / 3,
        1e-6,
    )


@given(LOG_ALPHA, st.floats(0, 1), TEMPERATURE, STRETCH)
def test_gates_lie_between_0_and_1_and_rise_with_log_alpha_and_noise(log_alpha, uniform, temperature, stretch):
    def z(a, u):
        return float(
            hard_concrete.sample_gates(*(torch.tensor(v, dtype=torch.float64) for v in (a, u)), temperature, *stretch)
        )

    assert 0 <= z(log_alpha, uniform) <= z(log_alpha + 0.5, uniform) <= 1
    assert z(log_alpha, uniform) <= z(log_alpha, min(1.0, uniform + 0.1))


@hypothesis_settings(deadline=None)
@given(st.lists(st.floats(-1.5, 1.5), min_size=4, max_size=4), TEMPERATURE, STRETCH, st.floats(-2, 2), st.floats(-2, 2))
def test_gradients_of_log_alpha_and_lambdas_against_finite_differences(alphas, temperature, stretch, first, second):
    uniform = torch.tensor([0.31, 0.47, 0.62, 0.78], dtype=torch.float64)
    log_alpha = torch.tensor(alphas, dtype=torch.float64)
    s = torch.sigmoid((torch.logit(uniform) + log_alpha) / temperature) * (stretch[1] - stretch[0]) + stretch[0]
    if bool(((s.abs() < 1e-4) | ((s - 1).abs() < 1e-4)).any()):
        return  # on the kink of the clamp there is no derivative
    lambdas = torch.tensor([first, second], dtype=torch.float64, requires_grad=True)
    weights = torch.tensor([0.5, -1.0, 2.0, 0.3], dtype=torch.float64)

    def loss(a, lam):
        z = hard_concrete.sample_gates(a, uniform, temperature, *stretch)
        return (weights * z).sum() + hard_concrete.penalty(1 - z.mean(), 0.6, lam)

    assert torch.autograd.gradcheck(loss, (log_alpha.requires_grad_(), lambdas))


def test_gradient_of_the_expected_sparsity_against_finite_differences():
    log_alpha = torch.tensor([0.2, -0.1, 4.0, -6.0], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda a: hard_concrete.probability_open(a).mean(), (log_alpha,))


def test_penalty_is_the_lagrangian_of_the_gap():
    value = hard_concrete.penalty(torch.tensor(0.2), 0.5, torch.tensor([2.0, 10.0]))
    assert float(value) == pytest.approx(2 * 0.3 + 10 * 0.09)
    rows = hard_concrete.penalty(torch.tensor([0.2, 0.6]), 0.5, torch.tensor([[2.0, 10.0], [1.0, 0.0]]))
    assert rows.tolist() == pytest.approx([2 * 0.3 + 10 * 0.09, -0.1])


def test_target_rises_linearly_then_holds():
    targets = [hard_concrete.target_sparsity_at(step, 50, 0.4) for step in (0, 25, 50, 99)]
    assert targets == pytest.approx([0, 0.2, 0.4, 0.4])
    assert hard_concrete.target_sparsity_at(0, 0, 0.4) == 0.4
    targets = [hard_concrete.target_sparsity_at(step, 50, 0.4, 0.2) for step in (0, 25, 50, 99)]
    assert targets == pytest.approx([0.2, 0.3, 0.4, 0.4])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "expected"),
    first_fast(
        (0.5, True), (0.2, False), *((n / 10, False) for n in range(1, 10) if n != 2), (0.1, True), (0.9, True), fast=2
    ),
)
def test_the_controller_reaches_its_target_within_one_component(target, expected):
    """The learner on a toy problem: 40 components, each of which costs another loss when closed.

    The multipliers learn at the miniature's 0.1. At the paper's 1.0 the sampled sparsity still swings at the extremes
    after so short a run: with seed 1 it ended 1.05 components off at 10 % and 0.7 at 90 %, with seed 2 within 0.1.
    """
    size = 40
    controller = "expected" if expected else "sampled"
    settings = Prune(
        rise=1500,
        hold=1500,
        batch_size=1,
        log_alpha_mean=2.0,
        controller_learning_rate=1.0 if expected else 0.1,
        warmup_steps=0,
        decay="from-start",
        controller=controller,
        examples=1,
        mean_examples=1,
    )
    learner, cost, seen = (
        Learner([PruningRun(target, 1)], settings, size, torch.device("cpu")),
        torch.linspace(0, 0.05, size),
        [],
    )
    while learner.step < learner.steps:
        for draw in learner.make_draws(100, pairs=1):
            z = hard_concrete.sample_gates(learner.log_alpha, draw.noise[0])[0]
            sparsity = 1 - (hard_concrete.probability_open(learner.log_alpha[0]) if expected else z).mean()
            ((cost * (1 - z)).sum() + hard_concrete.penalty(sparsity, draw.target[0], learner.lambdas[0])).backward()
            learner.advance()
            seen.append(float(sparsity.detach()))
    log_alpha = learner.log_alpha[0]
    assert sum(seen[-500:]) / 500 == pytest.approx(target, abs=1 / size)
    kept = torch.argsort(log_alpha.detach(), descending=True)[: round((1 - target) * size)]
    if 0.3 <= target <= 0.7:  # with few to choose from, chance decides more
        assert cost[kept].mean() > cost.mean()  # it is the cheap ones that went
