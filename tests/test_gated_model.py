"""A step computes no more than its gates need, and the same: against plain gating of every component."""

import pytest
import torch

from heuristic_core.models.ablation import Ablation, component_means
from heuristic_core.models.hooked import HookedModel
from heuristic_core.pruning import hard_concrete
from heuristic_core.pruning.gated_model import GatedModel


@pytest.fixture(scope="module")
def means(fused, pairs):
    return component_means(fused, pairs, torch.arange(len(pairs)).split(16))


@pytest.fixture(params=["fused", "hooked"])
def model(request, bert, fused):
    return fused if request.param == "fused" else HookedModel(bert)


def samples(kind: str, size: int) -> torch.Tensor:
    """log_alpha and noise under which many gates of two samples are closed, open, or between."""
    draws = torch.Generator().manual_seed(2)
    log_alpha, noise = 3 * torch.randn(size, generator=draws), torch.rand(2, size, generator=draws)
    if kind == "layer closed":
        log_alpha[4:8], log_alpha[13] = -30.0, -30.0  # the heads and the MLP of layer 1
    if kind == "lowest layer open":
        log_alpha[:4], log_alpha[12] = 30.0, 30.0
    if kind == "nothing moves":
        log_alpha = torch.where(log_alpha > 0, 30.0, -30.0)
    if kind == "all open":
        log_alpha = torch.full((size,), 30.0)
    return log_alpha.requires_grad_(), noise


KINDS = ("mixed", "layer closed", "lowest layer open", "nothing moves", "all open")


@pytest.mark.parametrize("kind", KINDS)
def test_logits_and_gradients_are_those_of_plain_gating(model, pairs, means, kind):
    batch, gate_rows = pairs.batch(torch.arange(20)), torch.arange(20) % 2
    log_alpha, noise = samples(kind, len(model.grid))
    weights = torch.randn(20, 3, generator=torch.Generator().manual_seed(3))

    z = hard_concrete.sample_gates(log_alpha, noise)
    expected = model.logits(batch, Ablation(z[gate_rows], means, model.grid))
    (plain,) = torch.autograd.grad((weights * expected).sum(), log_alpha)

    z = hard_concrete.sample_gates(log_alpha, noise)
    gated = GatedModel(model, z, means)
    logits = gated.logits(batch, gate_rows)
    if logits.requires_grad:
        (weights * logits).sum().backward()
    (ours,) = torch.autograd.grad(z, log_alpha, gated.gradient())
    torch.testing.assert_close(logits.detach(), expected.detach(), atol=1e-5, rtol=0)
    torch.testing.assert_close(ours, plain, atol=1e-4, rtol=1e-4)
    assert logits.requires_grad == (kind not in ("nothing moves", "all open"))
    assert gated.all_open == (kind == "all open")


def test_what_is_closed_is_not_computed(fused, pairs, means):
    """The edit of a step's forward never sees a head that both samples close, nor an MLP."""
    log_alpha, noise = samples("layer closed", len(fused.grid))
    z = hard_concrete.sample_gates(log_alpha, noise)
    closed = (z == 0).all(0)
    gated, widths = GatedModel(fused, z, means), {}

    def look(kind, layer, x):
        widths[kind, layer] = x.shape[2] if kind == "head" else 1
        return x

    gated._model.logits(pairs.batch(torch.arange(4)), look)
    assert ("head", 1) not in widths and ("mlp", 1) not in widths
    for layer in (0, 2):
        assert widths.get(("head", layer), 0) == 4 - int(closed[4 * layer : 4 * layer + 4].sum())
    assert closed.sum() > 5


def test_the_backward_pass_ends_at_the_lowest_gate_that_moves(fused, pairs, means, monkeypatch):
    """With layer 0 open throughout, its context vectors need no gradient; with gates that move there, they do."""
    from heuristic_core.models import fused as module

    attention, needed = torch.nn.functional.scaled_dot_product_attention, []

    def look(queries, *rest, **options):
        needed.append(queries.requires_grad)
        return attention(queries, *rest, **options)

    monkeypatch.setattr(module.F, "scaled_dot_product_attention", look)
    batch, gate_rows = pairs.batch(torch.arange(4)), torch.zeros(4, dtype=torch.long)
    for kind, expected in (("lowest layer open", [False, False, True]), ("mixed", [False, True, True])):
        needed.clear()
        log_alpha, noise = samples(kind, len(fused.grid))
        GatedModel(fused, hard_concrete.sample_gates(log_alpha, noise), means).logits(batch, gate_rows)
        assert needed == expected
