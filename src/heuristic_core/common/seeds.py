"""Named seeds: every random draw of a job comes from a generator that its purpose and seeds name."""

import hashlib

import torch


def seed_for(purpose: str, *seeds: int) -> int:
    """A 63-bit seed for `purpose` (such as "gates") and the seeds of the run; unrelated for unrelated arguments."""
    digest = hashlib.sha256(repr((purpose, *seeds)).encode()).digest()
    return int.from_bytes(digest[:8], "little") >> 1


def torch_generator(purpose: str, *seeds: int) -> torch.Generator:
    """A torch generator seeded by :func:`seed_for`."""
    return torch.Generator().manual_seed(seed_for(purpose, *seeds))


def global_state(device: torch.device) -> torch.Tensor:
    """The state of torch's own generator on `device`, from which dropout draws."""
    return torch.cuda.get_rng_state(device) if device.type == "cuda" else torch.get_rng_state()


def set_global_state(device: torch.device, state: torch.Tensor) -> None:
    """Go on from what :func:`global_state` returned."""
    torch.cuda.set_rng_state(state, device) if device.type == "cuda" else torch.set_rng_state(state)
