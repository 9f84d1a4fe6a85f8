"""Where a model runs, and in which numbers."""

import torch

from heuristic_core.common.errors import InputError
from heuristic_core.config.blocks import AskedPrecision, Precision


def usable_device(device: str) -> torch.device:
    """The device of that name. Raises InputError where there is none."""
    if device == "cuda" and not torch.cuda.is_available():
        raise InputError("device = 'cuda': no NVIDIA GPU is usable here; set device = 'cpu', or run where there is one")
    return torch.device(device)


def dtype_on(device: torch.device, asked: AskedPrecision) -> torch.dtype:
    """The type of numbers that a precision names. Raises InputError where `device` cannot compute with it."""
    if asked == "bfloat16" and device.type == "cuda" and not torch.cuda.is_bf16_supported():
        raise InputError("precision = 'bfloat16': this GPU does not compute with it; set 'float16' or 'float32'")
    return getattr(torch, precision_on(device, asked))


def precision_on(device: torch.device, asked: AskedPrecision) -> Precision:
    """What is computed with on `device`: "auto" is bfloat16 where it multiplies in bfloat16, and float32 elsewhere."""
    if asked != "auto":
        return asked
    return "bfloat16" if multiplies_bfloat16(device) else "float32"


def multiplies_bfloat16(device: torch.device) -> bool:
    """Whether `device` has instructions for products in bfloat16; others compute them by way of float32."""
    if device.type == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    able = torch.cpu.get_capabilities()
    return bool(able.get("avx512_bf16") or able.get("amx_bf16"))
