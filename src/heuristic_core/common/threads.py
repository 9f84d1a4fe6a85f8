"""CPU threads of torch."""


def use_threads(count: int) -> None:
    """Set the number of CPU threads of torch, and flush denormal numbers to zero.

    Saturated gates produce denormals, which are many times slower. Call this before any tensor is made.
    """
    import torch

    torch.set_num_threads(count)
    torch.set_flush_denormal(True)
