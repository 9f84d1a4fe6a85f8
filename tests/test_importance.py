"""Gradient importance against finite differences of every gate, pair by pair."""

import pytest
import torch
import torch.nn.functional as F

from heuristic_core.models.ablation import Ablation, component_means
from heuristic_core.models.components import ComponentGrid
from heuristic_core.models.fused import FusedModel
from heuristic_core.models.hooked import HookedModel
from heuristic_core.pruning.importance import gate_gradients, normalise_by_layer


@pytest.fixture(scope="module")
def means(fused, pairs):
    return component_means(fused, pairs, torch.arange(len(pairs)).split(16))


def test_importance_is_the_mean_absolute_slope_of_each_pairs_loss(checkpoint, pairs, means):
    model = FusedModel.load(checkpoint, dtype=torch.float64)
    batch, step, reference = pairs.batch(torch.arange(len(pairs))), 1e-4, means.to(model)

    def losses(component, gate):
        gates = torch.ones(len(model.grid), dtype=torch.float64)
        gates[component] = gate
        return F.cross_entropy(
            model.logits(batch, Ablation(gates, reference, model.grid)), pairs.labels, reduction="none"
        )

    slopes = [(losses(c, 1 + step) - losses(c, 1 - step)) / (2 * step) for c in range(len(model.grid))]
    expected = torch.stack([slope.abs().mean() for slope in slopes])
    torch.testing.assert_close(gate_gradients(model, pairs, means), expected, rtol=1e-5, atol=1e-7)
    signed = torch.stack([slope.mean() for slope in slopes]).abs()
    assert (expected > 1.1 * signed).any()  # the absolute value before the mean is not the one after it


def test_both_implementations_agree(bert, fused, pairs, means):
    ours, hooked = gate_gradients(fused, pairs, means), gate_gradients(HookedModel(bert), pairs, means)
    torch.testing.assert_close(ours, hooked, rtol=1e-4, atol=1e-6)


def test_heads_are_normalised_by_layer_and_mlps_among_themselves():
    values = torch.tensor([3.0, 4.0, 0.0, 0.0, 30.0, 40.0, 5.0, 0.0, 12.0], dtype=torch.float64)
    result = normalise_by_layer(values, ComponentGrid(3, 2)).tolist()
    assert result == pytest.approx([0.6, 0.8, 0, 0, 0.6, 0.8, 5 / 13, 0, 12 / 13])
