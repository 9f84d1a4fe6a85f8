"""Linear maps with frozen weights, by the fastest products that a processor has.

`torch.nn.functional.linear` computes float32 by MKL, which uses half of an AMD processor's vectors, and has oneDNN lay
out the weights of bfloat16 at each call. Here a large map is laid out for oneDNN once, and once more transposed for the
backward pass (docs/performance.md has both costs).
"""

from dataclasses import dataclass
from functools import cache, cached_property

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

SMALL = 2**16  # weights: a smaller map saves less than the calls from Python cost
ROWS = 512  # the layout is chosen for passes of some hundred tokens


@dataclass(frozen=True)
class Linear:
    """x [..., in] to x W^T + b [..., out]; x alone gets a gradient. weight: [out, in]; bias: [out]."""

    weight: Tensor
    bias: Tensor

    def __call__(self, x: Tensor) -> Tensor:
        if not self._laid_out():
            return F.linear(x, self.weight, self.bias)
        if torch.is_grad_enabled() and x.requires_grad:
            return _Product.apply(x, self)
        return product(x, self.forward_layout, self.bias)

    def rows(self, start: int, stop: int | None = None) -> "Linear":
        """The map to some of the outputs alone."""
        return Linear(self.weight[start:stop], self.bias[start:stop])

    @cached_property
    def forward_layout(self) -> Tensor:
        """The weight, readable by oneDNN alone."""
        return torch.ops.mkldnn._reorder_linear_weight(self.weight, ROWS)

    @cached_property
    def backward_layout(self) -> Tensor:
        """The transposed weight, readable by oneDNN alone."""
        return torch.ops.mkldnn._reorder_linear_weight(self.weight.T, ROWS)

    def _laid_out(self) -> bool:
        """Whether oneDNN computes this map. Portable arithmetic switches oneDNN off; a compiler chooses by itself."""
        weight = self.weight
        return (
            not torch.compiler.is_compiling()
            and weight.device.type == "cpu"
            and weight.numel() >= SMALL
            and torch.backends.mkldnn.enabled
            and _takes(weight.dtype)
        )


@cache
def _takes(dtype: torch.dtype) -> bool:
    """Whether oneDNN lays out weights of such numbers on this processor; bfloat16's it does with AVX-512 alone."""
    if not torch.backends.mkldnn.is_available():
        return False
    return dtype == torch.float32 or (dtype == torch.bfloat16 and torch.ops.mkldnn._is_mkldnn_bf16_supported())


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(x: Tensor, linear: Linear) -> Tensor:
        return product(x, linear.forward_layout, linear.bias)

    @staticmethod
    def setup_context(ctx, inputs, output) -> None:
        ctx.linear = inputs[1]

    @staticmethod
    @once_differentiable
    def backward(ctx, gradient: Tensor):
        return product(gradient, ctx.linear.backward_layout, None), None


def product(x: Tensor, layout: Tensor, bias: Tensor | None) -> Tensor:
    """x [..., in] times the transpose of a weight in oneDNN's `layout`, plus `bias`."""
    return torch.ops.mkldnn._linear_pointwise(x, layout, bias, "none", [], "")
