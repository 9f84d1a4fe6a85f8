"""Named seeds: every random draw of a job comes from a generator that its purpose and seeds name."""

import hashlib

import torch


def seed_for(purpose: str, *seeds: int) -> int:
    """A 63-bit seed for `purpose` (such as "gates") and the seeds of the run; unrelated for unrelated arguments."""
    digest = hashlib.sha256(repr((purpose, *seeds)).encode()).digest()
    return int.from_bytes(digest[:8], "little") >> 1


def generator(purpose: str, *seeds: int) -> torch.Generator:
    """A torch generator seeded by :func:`seed_for`."""
    return torch.Generator().manual_seed(seed_for(purpose, *seeds))
