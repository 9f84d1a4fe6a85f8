"""Named seeds: the generator of every random draw is seeded by the purpose of the draw and the seeds of the run."""

import hashlib

import torch


def derive_seed(purpose: str, *seeds: int) -> int:
    """Derive a 63-bit seed from the purpose of draws, such as "gates", and seeds of the run."""
    digest = hashlib.sha256(repr((purpose, *seeds)).encode()).digest()
    return int.from_bytes(digest[:8], "little") >> 1


def torch_generator(purpose: str, *seeds: int) -> torch.Generator:
    """Return a torch generator seeded by :func:`derive_seed`."""
    return torch.Generator().manual_seed(derive_seed(purpose, *seeds))


def get_global_rng_state(device: torch.device) -> torch.Tensor:
    """Return the state of torch's global generator on `device`, which dropout uses."""
    return torch.cuda.get_rng_state(device) if device.type == "cuda" else torch.get_rng_state()


def set_global_rng_state(device: torch.device, state: torch.Tensor) -> None:
    """Restore a state that :func:`get_global_rng_state` returned.

    Args:
        device: Device of the generator.
        state: State of the generator, uint8 [bytes].
    """
    torch.cuda.set_rng_state(state, device) if device.type == "cuda" else torch.set_rng_state(state)
