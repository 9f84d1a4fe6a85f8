"""Attention of one layer of a fused model: its mask, its probabilities, and what heads gather by them.

Queries, keys and values are [B, H, T, dh], for B pairs of T tokens and H heads of size dh; queries may be of one token.
A mask is additive, [B, 1, 1, T] of keys, or None.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

VECTOR = 16  # float32 numbers in a vector register


def gathered(
    queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None, causal: bool, rate: float = 0.0
) -> Tensor:
    """Values weighted by attention, [B, H, T, dh]. rate: of dropout of the probabilities.

    By torch's fused kernel, but on a CPU in bfloat16. The backward pass of the kernel takes several times as long there
    as in float32, and bare products less (docs/performance.md).
    """
    on_cpu = queries.device.type == "cpu"
    if on_cpu and queries.dtype == torch.bfloat16:
        weights = probabilities(queries.contiguous(), keys.contiguous(), mask, causal)
        return (F.dropout(weights, rate) if rate else weights) @ values
    if on_cpu and not causal and not rate:
        keys, values, mask = _fill_vectors(keys, values, mask)
    return F.scaled_dot_product_attention(queries, keys, values, mask, dropout_p=rate, is_causal=causal)


def probabilities(queries: Tensor, keys: Tensor, mask: Tensor | None, causal: bool) -> Tensor:
    """Attention probabilities [B, H, T, T], of which less than float32 does not compute the softmax."""
    scores = (queries * queries.shape[-1] ** -0.5) @ keys.transpose(-1, -2)
    scores = scores.to(torch.promote_types(scores.dtype, torch.float32))  # on a CPU in half the time of bfloat16's
    if causal:
        scores = scores + torch.full_like(scores[0, 0], -torch.inf).triu(1)
    return torch.softmax(scores if mask is None else scores + mask, -1).to(queries.dtype)


def additive(allowed: Tensor | None, dtype: torch.dtype) -> Tensor | None:
    """bool [B, T] as an additive mask [B, 1, 1, T]: 0 where allowed, minus infinity elsewhere."""
    if allowed is None:
        return None
    return torch.zeros(allowed.shape, dtype=dtype, device=allowed.device).masked_fill_(~allowed, -torch.inf)[
        :, None, None
    ]


def _fill_vectors(keys: Tensor, values: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor, Tensor | None]:
    """Keys and values [B, H, T, dh] with masked rows after them where T just misses a multiple of 16.

    The softmax of torch's CPU attention takes what does not fill a vector element by element: 15 keys cost twice as
    much as 16.
    """
    missing = -keys.shape[2] % VECTOR
    if not 0 < missing <= VECTOR // 4:
        return keys, values, mask
    if mask is None:
        mask = keys.new_zeros(len(keys), 1, 1, keys.shape[2])
    keys, values = (F.pad(part, (0, 0, 0, missing)) for part in (keys, values))
    return keys, values, F.pad(mask, (0, missing), value=-torch.inf)
