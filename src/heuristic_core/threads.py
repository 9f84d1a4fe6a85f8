"""How a job uses the machine: set once, before any tensor is made."""

import torch


def use_threads(count: int) -> None:
    """Run torch on `count` CPU threads, with denormal numbers flushed to zero.

    Gates that saturate make denormals, which slow a CPU down manyfold.
    """
    torch.set_num_threads(count)
    torch.set_flush_denormal(True)
