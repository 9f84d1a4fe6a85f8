"""Linear maps of frozen weights, which oneDNN computes where they are large and it may."""

import pytest
import torch
import torch.nn.functional as F
from conftest import make_encoded
from families import CASES, make_model

from heuristic_core.models import linear as module
from heuristic_core.models.ablation import component_means
from heuristic_core.models.batches import PairTensors
from heuristic_core.models.fused import FusedModel
from heuristic_core.models.hooked import model_inputs
from heuristic_core.models.implementation import wrap_model
from heuristic_core.models.linear import MIN_WEIGHTS, Linear
from heuristic_core.pruning.gated_model import GatedModel

OUT, IN = 320, 256  # more than MIN_WEIGHTS weights
SHAPES = [(5, 13, IN), (7, IN), (1, 1, IN)]


def drawn(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape)))


def linear(dtype: torch.dtype = torch.float32, transposed: bool = False) -> Linear:
    """transposed: with a weight that is a view, as GPT-2's are."""
    weight = drawn(IN, OUT).T if transposed else drawn(OUT, IN)
    return Linear((weight * IN**-0.5).to(dtype), drawn(OUT).to(dtype))


def computed(apply, weight, bias, x, dtype) -> tuple[torch.Tensor, torch.Tensor]:
    """The outputs and the gradient of x, in float64."""
    x = x.detach().clone().to(dtype).requires_grad_()
    result = apply(x, weight.to(dtype), bias.to(dtype))
    (result * torch.linspace(-1, 1, result.numel()).view(result.shape).to(dtype)).sum().backward()
    return result.detach().double(), x.grad.double()


def ours(x, weight, bias):
    return Linear(weight, bias)(x)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("transposed", [False, True])
def test_outputs_and_gradients_are_near_to_float64s(shape, transposed):
    """Within some of the last digit of either kind of numbers, whatever the order in which a processor sums."""
    layer, x = linear(transposed=transposed), drawn(*shape)
    for dtype, near in ((torch.float32, 1e-6), (torch.bfloat16, 1e-2)):
        about = layer.weight.to(dtype), layer.bias.to(dtype), x.to(dtype)
        exact, actual = computed(F.linear, *about, torch.float64), computed(ours, *about, dtype)
        for right, result in zip(exact, actual, strict=True):
            assert (result - right).square().mean().sqrt() < near * right.square().mean().sqrt()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_large_map_is_laid_out_once_and_backwards_only_where_asked(dtype):
    if not module._supports(dtype):
        pytest.skip(f"oneDNN lays out no weights in {dtype} on this processor")
    layer, x = linear(dtype), drawn(4, IN).to(dtype)
    with torch.no_grad():
        without = layer(x.requires_grad_())
    assert "forward_layout" in vars(layer) and "backward_layout" not in vars(layer)
    layout = layer.forward_layout
    layer(x).sum().backward()
    assert layer.forward_layout is layout and "backward_layout" in vars(layer)
    assert torch.equal(layer(x).detach(), without)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16])
def test_without_onednn_and_in_other_numbers_it_is_torchs_own(dtype):
    """To the byte: studies in portable arithmetic, which switches oneDNN off, rest on it."""
    layer, x = linear(dtype), drawn(3, 5, IN).to(dtype)
    with torch.backends.mkldnn.flags(enabled=dtype != torch.float32):
        result, gradient = computed(ours, layer.weight, layer.bias, x, dtype)
        right, other = computed(F.linear, layer.weight, layer.bias, x, dtype)
    assert torch.equal(result, right) and torch.equal(gradient, other)
    assert not {"forward_layout", "backward_layout"} & vars(layer).keys()


def test_a_small_map_is_torchs_own():
    layer = Linear(drawn(MIN_WEIGHTS // 64 - 1, 64), drawn(MIN_WEIGHTS // 64 - 1))
    x = drawn(3, 64)
    assert torch.equal(layer(x), F.linear(x, layer.weight, layer.bias))
    assert "forward_layout" not in vars(layer)


def test_some_rows_of_a_map():
    layer, x = linear(), drawn(6, IN)
    assert torch.allclose(layer.rows(40)(x), layer(x)[:, 40:], atol=1e-5)
    assert torch.allclose(layer.rows(0, 300)(x), layer(x)[:, :300], atol=1e-5)


def test_bfloat16_is_torchs_own_where_onednn_lays_out_none(monkeypatch):
    """As on x86 processors without AVX-512."""
    monkeypatch.setattr(module, "_supports", lambda dtype: dtype == torch.float32)
    layer, x = linear(torch.bfloat16), drawn(3, IN).bfloat16()
    assert torch.equal(layer(x), F.linear(x, layer.weight, layer.bias))
    assert "forward_layout" not in vars(layer)


def test_a_second_derivative_is_an_error_not_zero():
    x = drawn(3, IN).requires_grad_()
    (slope,) = torch.autograd.grad(linear()(x).square().sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        slope.sum().backward()


FUSED = [case for case in CASES if isinstance(wrap_model(make_model(case)), FusedModel)]


@pytest.mark.parametrize("case", FUSED)
def test_whole_models_are_hugging_faces_with_every_map_laid_out(case, monkeypatch):
    """Logits, and gradients of gates that are open, closed and between, of every family that is fused."""
    plain = make_model(case)
    encoded, draws = make_encoded(12, seed=3), torch.Generator().manual_seed(4)
    pairs = PairTensors(encoded, wrap_model(plain).pad)
    batch, gate_rows = pairs.batch(torch.arange(12)), torch.arange(12) % 2
    means = component_means(wrap_model(plain), pairs, torch.arange(12).split(4))
    z = (2 * torch.rand(2, len(wrap_model(plain).grid), generator=draws) - 0.5).clamp(0, 1)

    def gated() -> tuple[torch.Tensor, torch.Tensor]:
        model = GatedModel(wrap_model(plain), z, means)
        logits = model.logits(batch, gate_rows)
        logits.square().sum().backward()
        return logits.detach(), model.gradient()

    expected = gated()
    monkeypatch.setattr(module, "MIN_WEIGHTS", 1)
    model = wrap_model(plain)
    torch.testing.assert_close(model.logits(batch), plain(**model_inputs(plain, batch)).logits, atol=1e-5, rtol=0)
    assert all("forward_layout" in vars(layer.output) for layer in model._layers)
    for result, right in zip(gated(), expected, strict=True):
        torch.testing.assert_close(result, right, atol=1e-4, rtol=1e-4)
