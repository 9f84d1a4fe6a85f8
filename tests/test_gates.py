"""Hard-concrete gates and the controller against what can be worked out by hand."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from heuristic_core import gates

FINITE = st.floats(-12, 12)


@pytest.mark.parametrize("log_alpha", [-2.0, -0.3, 0.0, 0.7, 2.0])
def test_share_of_open_gates_is_the_analytic_probability(log_alpha):
    uniform = (torch.arange(200_000) + 0.5) / 200_000  # stratified: the empirical share is exact to 1 / n
    z = gates.sample(torch.tensor(log_alpha), uniform)
    expected = float(gates.probability_open(torch.tensor(log_alpha)))
    assert float((z > 0).float().mean()) == pytest.approx(expected, abs=1e-4)
    assert expected == pytest.approx(1 / (1 + math.exp(-(log_alpha - 2 / 3 * math.log(0.1 / 1.1)))))


@given(FINITE, st.floats(0, 1))
def test_gates_lie_between_0_and_1_and_rise_with_log_alpha(log_alpha, uniform):
    u = torch.tensor(uniform, dtype=torch.float64)
    low, high = (gates.sample(torch.tensor(a, dtype=torch.float64), u) for a in (log_alpha, log_alpha + 0.5))
    assert 0 <= low <= high <= 1


def test_gradient_of_gates_and_penalty_against_finite_differences():
    uniform = torch.tensor([0.3, 0.5, 0.62, 0.8], dtype=torch.float64)
    log_alpha = torch.tensor([0.2, -0.1, 0.4, -0.9], dtype=torch.float64, requires_grad=True)
    lambdas = torch.tensor([0.7, 1.3], dtype=torch.float64, requires_grad=True)

    def loss(a, lam):
        return gates.penalty(1 - gates.sample(a, uniform).mean(), 0.6, lam)

    assert torch.autograd.gradcheck(loss, (log_alpha, lambdas))


def test_penalty_is_the_lagrangian_of_the_gap():
    value = gates.penalty(torch.tensor(0.2), 0.5, torch.tensor([2.0, 10.0]))
    assert float(value) == pytest.approx(2 * 0.3 + 10 * 0.09)


def test_target_rises_linearly_then_holds():
    targets = [gates.target_at(step, 100, 0.5, 0.4) for step in (0, 25, 50, 99)]
    assert targets == pytest.approx([0, 0.2, 0.4, 0.4])
    assert gates.target_at(0, 100, 0.0, 0.4) == 0.4


@given(st.lists(FINITE, min_size=1, max_size=12), st.data())
def test_exactly_k_largest_are_kept_and_ties_go_to_the_lower_index(values, data):
    k = data.draw(st.integers(0, len(values)))
    kept = gates.keep_largest(torch.tensor(values), k)
    floats = torch.tensor(values).tolist()  # as the gates see them, in single precision
    assert kept == sorted(sorted(range(len(floats)), key=lambda i: (-floats[i], i))[:k])
