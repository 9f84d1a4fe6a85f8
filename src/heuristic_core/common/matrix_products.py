"""Matrix products of torch by numpy's OpenBLAS, for portable arithmetic.

OpenBLAS held to its kernels for Haswell rounds the same on every processor with AVX2, and is faster than the only
branch of MKL that does (docs/decisions/portable-arithmetic.md).
"""

import warnings
from functools import cache
from types import ModuleType
from typing import Any


@cache
def use_openblas(torch: ModuleType) -> Any:
    """Let numpy compute all later `mm`, `bmm` and `addmm` of torch on CPUs, forward and backward, in this process.

    Args:
        torch: The module, which this one does not import: most jobs do without it.

    Returns:
        The registration, which lasts as long as the process.
    """
    import numpy as np  # here: the environment may still have to be prepared when this module is imported

    def multiply(a, b):
        return torch.from_numpy(np.matmul(a.detach().numpy(), b.detach().numpy()))

    def multiply_and_add(c, a, b, *, beta=1, alpha=1):
        product = multiply(a, b)
        if alpha != 1:
            product *= alpha
        return product.add_(c, alpha=beta)

    library = torch.library.Library("aten", "IMPL")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "(?s).*Overriding a previously registered kernel")
        for name, function in (("mm", multiply), ("bmm", multiply), ("addmm", multiply_and_add)):
            library.impl(name, function, "CPU")
    return library


def uses_openblas() -> bool:
    """Return whether :func:`use_openblas` was called in this process."""
    return use_openblas.cache_info().currsize > 0
