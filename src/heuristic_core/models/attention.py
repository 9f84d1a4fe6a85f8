"""Attention of one layer of a fused model: mask, probabilities and context vectors.

Queries, keys and values are [B, H, T, dh], for B pairs of T tokens and H heads of size dh. Queries may cover a single
token. A mask is additive over keys, [B, 1, 1, T], or None.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

VECTOR_SIZE = 16  # float32 numbers in a vector register


def attend(
    queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None, causal: bool, rate: float = 0.0
) -> Tensor:
    """Compute context vectors, the values weighted by attention, [B, H, T, dh].

    Uses torch's fused kernel, except for bfloat16 on a CPU: there the backward pass of the kernel takes several times
    as long as in float32, and explicit matrix products take less (docs/performance.md).

    Args:
        queries: [B, H, T or 1, dh].
        keys: [B, H, T, dh].
        values: [B, H, T, dh].
        mask: Additive mask over keys, or None.
        causal: Whether a token attends only to itself and earlier tokens.
        rate: Dropout rate of the probabilities.
    """
    on_cpu = queries.device.type == "cpu"
    if on_cpu and queries.dtype == torch.bfloat16:
        weights = probabilities(queries.contiguous(), keys.contiguous(), mask, causal)
        return (F.dropout(weights, rate) if rate else weights) @ values
    if on_cpu and not causal and not rate:
        keys, values, mask = _fill_vectors(keys, values, mask)
    return F.scaled_dot_product_attention(queries, keys, values, mask, dropout_p=rate, is_causal=causal)


def probabilities(queries: Tensor, keys: Tensor, mask: Tensor | None, causal: bool) -> Tensor:
    """Compute attention probabilities; the softmax runs in float32 or wider.

    Args:
        queries: [B, H, T or 1, dh].
        keys: [B, H, T, dh].
        mask: Additive mask over keys, or None.
        causal: Whether a token attends only to itself and earlier tokens.

    Returns:
        [B, H, T or 1, T], in the type of `queries`.
    """
    scores = (queries * queries.shape[-1] ** -0.5) @ keys.transpose(-1, -2)
    scores = scores.to(torch.promote_types(scores.dtype, torch.float32))  # twice as fast as bfloat16 on a CPU
    if causal:
        scores = scores + torch.full_like(scores[0, 0], -torch.inf).triu(1)
    return torch.softmax(scores if mask is None else scores + mask, -1).to(queries.dtype)


def additive_mask(allowed: Tensor | None, dtype: torch.dtype) -> Tensor | None:
    """Convert a boolean mask to an additive mask: 0 where allowed, minus infinity elsewhere.

    Args:
        allowed: Tokens that may be attended to, [B, T]; None for all.
        dtype: Type of the result.

    Returns:
        Mask [B, 1, 1, T]; None if `allowed` is None.
    """
    if allowed is None:
        return None
    return torch.zeros(allowed.shape, dtype=dtype, device=allowed.device).masked_fill_(~allowed, -torch.inf)[
        :, None, None
    ]


def _fill_vectors(keys: Tensor, values: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor, Tensor | None]:
    """Pad keys and values [B, H, T, dh] with masked rows where T is slightly below a multiple of 16.

    The softmax of torch's CPU attention computes elements that do not fill a vector one by one: 15 keys cost twice as
    much as 16.
    """
    missing = -keys.shape[2] % VECTOR_SIZE
    if not 0 < missing <= VECTOR_SIZE // 4:
        return keys, values, mask
    if mask is None:
        mask = keys.new_zeros(len(keys), 1, 1, keys.shape[2])
    keys, values = (F.pad(part, (0, 0, 0, missing)) for part in (keys, values))
    return keys, values, F.pad(mask, (0, missing), value=-torch.inf)
