"""Attention of fused models in bfloat16 on a CPU, which torch's fused kernel does not compute there."""

import pytest
import torch
import torch.nn.functional as F

from heuristic_core.models.attention import additive_mask, attend, probabilities

PAIRS, HEADS, TOKENS, SIZE = 3, 4, 11, 8


def parts(queries: int = TOKENS) -> list[torch.Tensor]:
    """Queries, keys and values, as a layer gives them: not contiguous."""
    draws = torch.Generator().manual_seed(0)
    sizes = (queries, TOKENS, TOKENS)
    return [torch.randn(PAIRS, n, HEADS, SIZE, generator=draws).transpose(1, 2) for n in sizes]


def mask(dtype: torch.dtype) -> torch.Tensor:
    allowed = torch.arange(TOKENS) < torch.tensor([[11], [7], [1]])
    return additive_mask(allowed, dtype)


def kernel(queries, keys, values, mask, causal):
    return F.scaled_dot_product_attention(queries, keys, values, mask, is_causal=causal)


def computed(attend, dtype, queries, masked, causal):
    """What heads gather, and the gradients of queries, keys and values, in float64."""
    leaves = [part.to(dtype).requires_grad_() for part in parts(queries)]
    result = attend(*leaves, mask(dtype) if masked else None, causal)
    assert result.dtype == dtype
    (result * torch.linspace(-1, 1, result.numel(), dtype=dtype).view(result.shape)).sum().backward()
    return [result.detach().double(), *(leaf.grad.double() for leaf in leaves)]


@pytest.mark.parametrize(
    ("queries", "masked", "causal"),
    [(TOKENS, False, False), (TOKENS, True, False), (TOKENS, False, True), (1, True, False)],
)
def test_bfloat16_is_as_near_to_float64_as_the_kernel(queries, masked, causal):
    exact, ours, theirs = (
        computed(attend, dtype, queries, masked, causal)
        for attend, dtype in ((kernel, torch.float64), (attend, torch.bfloat16), (kernel, torch.bfloat16))
    )
    for right, our_result, their_result in zip(exact, ours, theirs, strict=True):
        error, usual = ((item - right).square().mean().sqrt() for item in (our_result, their_result))
        assert 0 < error < 0.02 * right.square().mean().sqrt()
        assert error < 2 * usual


@pytest.mark.parametrize("causal", [False, True])
def test_other_numbers_are_the_kernels(causal):
    """To the byte: studies in portable arithmetic rest on it."""
    for dtype in (torch.float32, torch.float64):
        converted = [part.to(dtype) for part in parts()]
        assert torch.equal(attend(*converted, None, causal), kernel(*converted, None, causal))


def test_dropout_leaves_the_mean_and_drops():
    torch.manual_seed(0)
    queries, keys, values = (part.bfloat16() for part in parts())
    kept = attend(queries, keys, values, None, False)
    drawn = torch.stack([attend(queries, keys, values, None, False, 0.5) for _ in range(400)]).float()
    assert (drawn.mean(0) - kept.float()).abs().max() < 0.25 and drawn.std(0).min() > 0.05


def test_probabilities_of_masked_and_later_tokens_are_zero():
    queries, keys, _ = parts()
    shares = probabilities(queries, keys, mask(torch.float32), False)
    assert torch.allclose(shares.sum(-1), torch.ones(())) and not shares[1, ..., 7:].any()
    assert not probabilities(queries, keys, None, True).triu(1).any()
