"""From log_alpha to kept components: exactly k, and the paper's rule on cases worked out by hand."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from heuristic_core.config.pruning import Prune
from heuristic_core.evaluation.evaluate import all_logits
from heuristic_core.models.ablation import component_means
from heuristic_core.models.components import ComponentGrid
from heuristic_core.pruning.discretise import choose_threshold, discretise, keep_above, keep_largest, soft_mask
from heuristic_core.pruning.prune import PruningInputs

BASE = {"rise": 10, "hold": 2, "batch_size": 4, "warmup_steps": 2, "examples": 40, "mean_examples": 20}
FINITE = st.floats(-12, 12)


@given(st.lists(FINITE, min_size=1, max_size=12), st.data())
def test_exactly_k_largest_are_kept_and_ties_go_to_the_lower_index(values, data):
    k = data.draw(st.integers(0, len(values)))
    kept = keep_largest(torch.tensor(values), k)
    floats = torch.tensor(values).tolist()  # as the gates see them, in single precision
    assert kept == sorted(sorted(range(len(floats)), key=lambda i: (-floats[i], i))[:k])


def test_the_soft_mask_closes_the_expected_number_of_gates_in_each_layer():
    """Two layers of three heads. P(closed) = 1 - sigmoid(log_alpha + 1.5986), as -T log(0.1 / 1.1) = 1.5986."""
    grid = ComponentGrid(2, 3)
    log_alpha = torch.tensor([-9.0, 2.0, -8.0, 3.0, -1.0, 3.0, -9.0, 4.0])
    mask = soft_mask(log_alpha, grid)
    # Layer 0 expects 1 + 0.027 + 0.998 = 2.03 closed gates: its two smallest. Layer 1: 0.01 + 0.355 + 0.01, none.
    assert mask[[0, 2]].tolist() == [0, 0]
    assert (mask[[1, 3, 4, 5]] > 0).all()
    assert mask[6] == 0 and mask[7] > 0  # the MLPs, one to a layer
    assert float(mask[4]) == pytest.approx(float(torch.sigmoid(torch.tensor(0.8 * -1.0 * 1.5))))
    assert keep_above(log_alpha, grid, 0.5) == [1, 3, 5, 7]
    assert keep_above(log_alpha, grid, 0.2) == [1, 3, 4, 5, 7]


@given(st.lists(FINITE, min_size=8, max_size=8), st.floats(0, 0.98), st.floats(0, 0.98))
def test_a_higher_threshold_keeps_a_part_of_what_a_lower_one_keeps(values, one, other):
    grid, low, high = ComponentGrid(2, 3), min(one, other), max(one, other)
    assert set(keep_above(torch.tensor(values), grid, high)) <= set(keep_above(torch.tensor(values), grid, low))


@pytest.fixture(scope="module")
def held_out(fused, pairs):
    means = component_means(fused, pairs, torch.arange(len(pairs)).split(16))
    return PruningInputs(fused, means, pairs, all_logits(fused, pairs))


def test_a_chosen_threshold_is_the_faithful_one_among_those_that_prune_enough(held_out):
    from heuristic_core.pruning import discretise as module

    grid = held_out.model.grid
    log_alpha = torch.linspace(-2, 1.5, len(grid))[
        torch.randperm(len(grid), generator=torch.Generator().manual_seed(4))
    ]
    threshold = choose_threshold(log_alpha, 0.4, held_out)
    kept = keep_above(log_alpha, grid, threshold)
    assert len(kept) <= (1 - 0.4 + 0.05) * len(grid)
    best = module._divergence(kept, held_out)
    for other in module.CANDIDATES:
        rival = keep_above(log_alpha, grid, other)
        if len(rival) <= (1 - 0.4 + 0.05) * len(grid):
            assert module._divergence(rival, held_out) >= best - 1e-7


def test_the_rule_is_a_setting_and_a_threshold_set_by_hand_counts(held_out):
    grid = held_out.model.grid
    log_alpha = torch.linspace(-2, 2, len(grid))
    exact = discretise(log_alpha, grid, 0.4, Prune(**BASE), None)
    assert exact == (keep_largest(log_alpha, 9), None)
    by_hand = Prune(**BASE, discretise="threshold", thresholds={0.4: 0.6})
    assert discretise(log_alpha, grid, 0.4, by_hand, held_out) == (keep_above(log_alpha, grid, 0.6), 0.6)
    chosen = discretise(log_alpha, grid, 0.5, by_hand, held_out)
    assert chosen.threshold == choose_threshold(log_alpha, 0.5, held_out)
