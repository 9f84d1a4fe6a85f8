"""Linear maps of frozen weights, which oneDNN computes where they are large and it may."""

import pytest
import torch
import torch.nn.functional as F

from heuristic_core.models.linear import SMALL, Linear

OUT, IN = 320, 256  # more than SMALL weights
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
    found = apply(x, weight.to(dtype), bias.to(dtype))
    (found * torch.linspace(-1, 1, found.numel()).view(found.shape).to(dtype)).sum().backward()
    return found.detach().double(), x.grad.double()


def ours(x, weight, bias):
    return Linear(weight, bias)(x)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("transposed", [False, True])
def test_outputs_and_gradients_are_as_near_to_float64_as_torchs(shape, transposed):
    one, x = linear(transposed=transposed), drawn(*shape)
    for dtype, near in ((torch.float32, 1e-6), (torch.bfloat16, 1e-2)):
        about = one.weight.to(dtype), one.bias.to(dtype), x.to(dtype)
        exact, own, theirs = (
            computed(apply, *about, number)
            for apply, number in ((F.linear, torch.float64), (ours, dtype), (F.linear, dtype))
        )
        for right, found, other in zip(exact, own, theirs, strict=True):
            error, usual = ((part - right).square().mean().sqrt() for part in (found, other))
            assert error < near * right.square().mean().sqrt()
            assert error < 2 * usual


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_large_map_is_laid_out_once_and_backwards_only_where_asked(dtype):
    one, x = linear(dtype), drawn(4, IN).to(dtype)
    with torch.no_grad():
        without = one(x.requires_grad_())
    assert "forward_layout" in vars(one) and "backward_layout" not in vars(one)
    layout = one.forward_layout
    one(x).sum().backward()
    assert one.forward_layout is layout and "backward_layout" in vars(one)
    assert torch.equal(one(x).detach(), without)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16])
def test_without_onednn_and_in_other_numbers_it_is_torchs_own(dtype):
    """To the byte: studies in portable arithmetic, which switches oneDNN off, rest on it."""
    one, x = linear(dtype), drawn(3, 5, IN).to(dtype)
    with torch.backends.mkldnn.flags(enabled=dtype != torch.float32):
        found, gradient = computed(ours, one.weight, one.bias, x, dtype)
        right, other = computed(F.linear, one.weight, one.bias, x, dtype)
    assert torch.equal(found, right) and torch.equal(gradient, other)
    assert not {"forward_layout", "backward_layout"} & vars(one).keys()


def test_a_small_map_is_torchs_own():
    one = Linear(drawn(SMALL // 64 - 1, 64), drawn(SMALL // 64 - 1))
    x = drawn(3, 64)
    assert torch.equal(one(x), F.linear(x, one.weight, one.bias))
    assert "forward_layout" not in vars(one)


def test_some_rows_of_a_map():
    one, x = linear(), drawn(6, IN)
    assert torch.allclose(one.rows(40)(x), one(x)[:, 40:], atol=1e-5)
    assert torch.allclose(one.rows(0, 300)(x), one(x)[:, :300], atol=1e-5)
