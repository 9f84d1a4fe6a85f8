"""Linear maps with frozen weights, computed by the processor's fastest matrix products.

`torch.nn.functional.linear` uses MKL for float32, which uses half of an AMD processor's vectors, and lets oneDNN
reorder bfloat16 weights at each call. Here the weights of a large map are reordered for oneDNN once, and once more
transposed for the backward pass (docs/performance.md compares the costs).
"""

from dataclasses import dataclass
from functools import cache, cached_property

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

MIN_WEIGHTS = 2**16  # for a smaller map, the calls from Python cost more than oneDNN saves
LAYOUT_ROWS = 512  # the layout is chosen for passes of some hundred tokens


@dataclass(frozen=True)
class Linear:
    """The map x W^T + b from x [..., in] to [..., out]; only x gets a gradient.

    Attributes:
        weight: [out, in].
        bias: [out].
    """

    weight: Tensor
    bias: Tensor

    def __call__(self, x: Tensor) -> Tensor:
        """Apply the map to `x` [..., in]."""
        if not self._uses_onednn():
            return F.linear(x, self.weight, self.bias)
        if torch.is_grad_enabled() and x.requires_grad:
            return _Product.apply(x, self)
        return product(x, self.forward_layout, self.bias)

    def rows(self, start: int, stop: int | None = None) -> "Linear":
        """Return the map to some of the outputs.

        Args:
            start: Index of the first output.
            stop: Index after the last output; None for all from `start` on.
        """
        return Linear(self.weight[start:stop], self.bias[start:stop])

    @cached_property
    def forward_layout(self) -> Tensor:
        """The weight in oneDNN's own layout."""
        return torch.ops.mkldnn._reorder_linear_weight(self.weight, LAYOUT_ROWS)

    @cached_property
    def backward_layout(self) -> Tensor:
        """The transposed weight in oneDNN's own layout."""
        return torch.ops.mkldnn._reorder_linear_weight(self.weight.T, LAYOUT_ROWS)

    def _uses_onednn(self) -> bool:
        """Return whether oneDNN computes this map: not in portable arithmetic, nor under a compiler."""
        weight = self.weight
        return (
            weight.numel() >= MIN_WEIGHTS
            and not torch.compiler.is_compiling()
            and weight.device.type == "cpu"
            and torch.backends.mkldnn.enabled
            and _supports(weight.dtype)
        )


@cache
def _supports(dtype: torch.dtype) -> bool:
    """Return whether oneDNN reorders weights of `dtype` on this processor; bfloat16 needs AVX-512."""
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
    """Compute x W^T + b with a weight in oneDNN's own layout, [..., out].

    Args:
        x: [..., in].
        layout: W, [out, in], reordered by oneDNN.
        bias: b, [out], or None.
    """
    return torch.ops.mkldnn._linear_pointwise(x, layout, bias, "none", [], "")
