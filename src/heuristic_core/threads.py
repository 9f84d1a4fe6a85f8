"""How a job uses the machine: set once, before any tensor is made."""

import logging
import os

import torch

LOGGER = logging.getLogger("heuristic_core")
OLDEST = {"ATEN_CPU_CAPABILITY": "default", "MKL_CBWR": "COMPATIBLE"}


def use_threads(count: int) -> None:
    """Run torch on `count` CPU threads, with denormal numbers flushed to zero.

    Gates that saturate make denormals, which slow a CPU down manyfold.
    """
    torch.set_num_threads(count)
    torch.set_flush_denormal(True)


def use_oldest_instructions() -> None:
    """Compute with the instructions that every x86-64 processor has, before any tensor is made.

    With the newest that they find, torch, MKL and oneDNN round differently on each kind of processor, and training
    makes another model of that. Without, it takes up to twice as long. The first two choose once, at their first
    computation; oneDNN, which compiles for the processor it runs on, is not used at all.
    """
    os.environ.update(OLDEST)
    torch.backends.mkldnn.enabled = False
    if (chosen := torch.backends.cpu.get_cpu_capability()) != "DEFAULT":
        LOGGER.warning("computing with %s already: another kind of processor will not give the same bytes", chosen)
