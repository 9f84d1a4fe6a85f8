"""From log_alpha to kept components: exactly k, and the paper's rule on cases worked out by hand."""

from functools import partial
from types import SimpleNamespace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from heuristic_core.config.pruning import Prune
from heuristic_core.interventions.evaluate import all_logits
from heuristic_core.models.ablation import component_means
from heuristic_core.models.components import ComponentGrid
from heuristic_core.pruning.discretise import discretise, faithful_threshold, keep_above, nearest_threshold, soft_mask
from heuristic_core.pruning.hard_concrete import keep_largest
from heuristic_core.pruning.inputs import PruningInputs

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
def test_a_higher_threshold_keeps_a_part_of_what_a_lower_one_keeps(values, threshold, other):
    grid, low, high = ComponentGrid(2, 3), min(threshold, other), max(threshold, other)
    assert set(keep_above(torch.tensor(values), grid, high)) <= set(keep_above(torch.tensor(values), grid, low))


@pytest.fixture(scope="module")
def held_out(fused, pairs):
    means = component_means(fused, pairs, torch.arange(len(pairs)).split(16))
    return PruningInputs(fused, means, pairs, all_logits(fused, pairs))


def test_the_faithful_threshold_diverges_least_among_those_that_prune_enough(held_out):
    from heuristic_core.pruning import discretise as module

    grid = held_out.model.grid
    log_alpha = torch.linspace(-2, 1.5, len(grid))[
        torch.randperm(len(grid), generator=torch.Generator().manual_seed(4))
    ]
    threshold = faithful_threshold(log_alpha, 0.4, held_out)
    kept = keep_above(log_alpha, grid, threshold)
    assert len(kept) <= (1 - 0.4 + 0.05) * len(grid)
    best = module._mean_divergence(kept, held_out)
    for other in module.CANDIDATE_THRESHOLDS:
        rival = keep_above(log_alpha, grid, other)
        if len(rival) <= (1 - 0.4 + 0.05) * len(grid):
            assert module._mean_divergence(rival, held_out) >= best - 1e-7


def invert_soft_mask(shares):
    """log_alpha whose soft mask has these values: the inverse of sigmoid(0.8 log_alpha / T)."""
    return torch.tensor(shares).logit() / 1.2


def test_the_nearest_threshold_by_hand():
    """A grid of 10: values from 0.12 to 0.93, of which the first pass closes the lowest."""
    grid = ComponentGrid(2, 4)
    log_alpha = invert_soft_mask([0.12, 0.22, 0.32, 0.42, 0.52, 0.62, 0.72, 0.82, 0.92, 0.93])
    sizes = {t: len(keep_above(log_alpha, grid, t)) for t in (0.3, 0.35, 0.4, 0.5, 0.55, 0.6)}
    assert sizes == {0.3: 8, 0.35: 7, 0.4: 7, 0.5: 6, 0.55: 5, 0.6: 5}
    assert (
        nearest_threshold(log_alpha, grid, 0.5) == 0.6
    )  # five are kept from 0.55 on: of the same subnetworks the highest
    assert nearest_threshold(log_alpha, grid, 0.4) == 0.5
    assert nearest_threshold(log_alpha, grid, 0.45) == 0.6  # 5 and 6 are as near to 5.5: the sparser
    assert nearest_threshold(log_alpha, grid, 0.0) == 0.2  # no threshold keeps more than nine
    assert nearest_threshold(log_alpha, grid, 0.99) == 0.95  # 0.1 components are nearer to none than to one


@pytest.mark.slow
@given(st.lists(FINITE, min_size=8, max_size=8), st.floats(0.05, 0.95))
def test_no_threshold_is_nearer_than_the_nearest(values, sparsity):
    grid, log_alpha = ComponentGrid(2, 3), torch.tensor(values)
    sizes = {t: len(keep_above(log_alpha, grid, t)) for t in [round(0.05 * n, 2) for n in range(1, 20)]}
    miss = {t: abs(size - (1 - sparsity) * len(grid)) for t, size in sizes.items()}
    assert miss[nearest_threshold(log_alpha, grid, sparsity)] == pytest.approx(min(miss.values()), abs=1e-6)


@pytest.mark.slow
def test_the_faithful_rule_keeps_more_than_the_nearest(monkeypatch):
    """Simulated on BERT's grid: every component lost adds to the divergence, those of large log_alpha more."""
    from heuristic_core.pruning import discretise as module

    grid, kept = ComponentGrid(12, 12), {"nearest": [], "faithful": []}
    held_out = SimpleNamespace(model=SimpleNamespace(grid=grid))
    for seed in range(20):
        draw = torch.Generator().manual_seed(seed)
        log_alpha = 1.5 * torch.randn(len(grid), generator=draw)
        cost = log_alpha.exp() * torch.rand(len(grid), generator=draw)
        lost = partial(lambda cost, kept, _: float(cost.sum() - cost[list(kept)].sum()), cost)
        monkeypatch.setattr(module, "_mean_divergence", lost)
        for rule, sizes in kept.items():
            settings = Prune(**BASE, discretise="threshold", threshold_rule=rule)
            result = discretise(log_alpha, grid, 0.5, settings, held_out)
            assert result.rule == rule
            sizes.append(len(result.components) / len(grid))
    mean = {rule: sum(sizes) / len(sizes) for rule, sizes in kept.items()}
    assert mean["nearest"] == pytest.approx(0.5, abs=0.01)
    assert mean["faithful"] > mean["nearest"] + 0.01
    assert all(more >= less for more, less in zip(kept["faithful"], kept["nearest"], strict=True))


def test_the_rule_is_a_setting_and_a_threshold_set_by_hand_counts(held_out):
    grid = held_out.model.grid
    log_alpha = torch.linspace(-2, 2, len(grid))
    exact = discretise(log_alpha, grid, 0.4, Prune(**BASE), None)
    assert exact == (keep_largest(log_alpha, 9), None, "exact")
    by_hand = Prune(**BASE, discretise="threshold", thresholds={0.4: 0.6})
    assert discretise(log_alpha, grid, 0.4, by_hand, held_out) == (keep_above(log_alpha, grid, 0.6), 0.6, "by-hand")
    chosen = discretise(log_alpha, grid, 0.5, by_hand, held_out)
    assert chosen[1:] == (faithful_threshold(log_alpha, 0.5, held_out), "faithful")


@pytest.mark.parametrize("rule, pairs", [("faithful", 500), ("nearest", 0)])
def test_only_a_faithful_threshold_needs_pairs_of_its_own(rule, pairs):
    assert Prune(**BASE, discretise="threshold", threshold_rule=rule).pairs_held_out == pairs
