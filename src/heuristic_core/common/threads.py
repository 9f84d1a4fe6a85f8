"""How many CPU threads torch runs on."""


def use_threads(count: int) -> None:
    """Run torch on `count` CPU threads, with denormal numbers flushed to zero.

    Gates that saturate make denormals, which slow a CPU down manyfold. Call it before any tensor is made.
    """
    import torch

    torch.set_num_threads(count)
    torch.set_flush_denormal(True)
