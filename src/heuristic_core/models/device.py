"""Where a model runs, and in which numbers."""

import torch

from heuristic_core.common.errors import InputError


def usable_device(device: str) -> torch.device:
    """The device of that name. Raises InputError where there is none."""
    if device == "cuda" and not torch.cuda.is_available():
        raise InputError("device = 'cuda': no NVIDIA GPU is usable here; set device = 'cpu', or run where there is one")
    return torch.device(device)


def dtype_on(device: torch.device, precision: str) -> torch.dtype:
    """The type of numbers that `precision` names. Raises InputError where `device` cannot compute with it."""
    if precision == "bfloat16" and device.type == "cuda" and not torch.cuda.is_bf16_supported():
        raise InputError("precision = 'bfloat16': this GPU does not compute with it; set 'float16' or 'float32'")
    return getattr(torch, precision)
