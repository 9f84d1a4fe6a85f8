"""The device and the precision that a model runs with."""

import torch

from heuristic_core.common.errors import InputError
from heuristic_core.config.blocks import Precision, PrecisionSetting


def resolve_device(device: str) -> torch.device:
    """Return the device called `device` ("cpu" or "cuda").

    Raises:
        InputError: No such device is usable.
    """
    if device == "cuda" and not torch.cuda.is_available():
        raise InputError("device = 'cuda': no usable NVIDIA GPU; set device = 'cpu', or run on a machine with a GPU")
    if device == "cuda":
        allow_cudnn_attention(False)
    return torch.device(device)


def allow_cudnn_attention(allowed: bool) -> None:
    """Set whether attention may use cuDNN, which is fast for few shapes of batches: it makes a plan for each."""
    torch.backends.cuda.enable_cudnn_sdp(allowed)


def resolve_dtype(device: torch.device, precision: PrecisionSetting) -> torch.dtype:
    """Return the dtype of `precision` on `device`.

    Args:
        device: Device of the computation.
        precision: Name of a dtype, or "auto" for the choice of :func:`resolve_precision`.

    Raises:
        InputError: The device does not support it.
    """
    if precision == "bfloat16" and device.type == "cuda" and not torch.cuda.is_bf16_supported():
        raise InputError("precision = 'bfloat16': this GPU does not support it; set 'float16' or 'float32'")
    return getattr(torch, resolve_precision(device, precision))


def resolve_precision(device: torch.device, precision: PrecisionSetting) -> Precision:
    """Resolve "auto": bfloat16 on a device that multiplies faster in it, float32 elsewhere.

    Args:
        device: Device of the computation.
        precision: Name of a dtype, which is returned unchanged, or "auto".
    """
    if precision != "auto":
        return precision
    return "bfloat16" if is_bfloat16_faster(device) else "float32"


def is_bfloat16_faster(device: torch.device) -> bool:
    """Return whether `device` multiplies faster in bfloat16 than in float32.

    Intel's AVX-512 BF16 does not: without AMX, its products take 1.7 times as long as those in float32. AMD's
    take half.
    """
    if device.type == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    capabilities = torch.cpu.get_capabilities()
    intel = str(capabilities.get("cpu_name", "")).startswith("Intel")
    return bool(capabilities.get("amx_bf16") or (capabilities.get("avx512_bf16") and not intel))
