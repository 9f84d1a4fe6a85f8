"""Choose the implementation for a checkpoint folder or a Hugging Face model in memory."""

import copy
import json
from pathlib import Path
from typing import TYPE_CHECKING

from heuristic_core.models.device import resolve_device, resolve_dtype
from heuristic_core.models.families import get_family
from heuristic_core.models.fused import FusedModel
from heuristic_core.models.fused_families import fused_family
from heuristic_core.models.model import Model

if TYPE_CHECKING:
    from transformers import PreTrainedModel


def load_model(folder: str | Path, device: str = "cpu", precision: str = "float32") -> Model:
    """Load the classifier in a checkpoint folder: fused if its family and settings are supported, hooked otherwise.

    Args:
        folder: Checkpoint folder.
        device: "cpu" or "cuda".
        precision: "float32", "bfloat16", "float16" or "auto", which chooses one of the first two by device.

    Raises:
        InputError: The family is unknown, or the device is not usable.
    """
    dtype = resolve_dtype(resolve_device(device), precision)
    config = json.loads((Path(folder) / "config.json").read_text())
    get_family(config.get("model_type"))
    if fused_family(config):
        return FusedModel.load(folder, device, dtype)
    from heuristic_core.models.hooked import HookedModel

    return HookedModel.load(folder, device, dtype)


def wrap_model(model: "PreTrainedModel", precision: str = "float32") -> Model:
    """Wrap a Hugging Face classifier in memory.

    Args:
        model: A ``PreTrainedModel`` for sequence classification.
        precision: "auto" or a dtype's name. The weights are copied if they have another dtype, and shared otherwise.
    """
    config, dtype = model.config.to_dict(), resolve_dtype(model.device, precision)
    if fused_family(config):
        return FusedModel(config, {name: value.detach().to(dtype) for name, value in model.state_dict().items()})
    from heuristic_core.models.hooked import HookedModel

    return HookedModel(model if model.dtype == dtype else copy.deepcopy(model).to(dtype))


def copy_model(model: "PreTrainedModel", precision: str = "float32") -> Model:
    """Copy a Hugging Face classifier in memory, and wrap the copy.

    Args:
        model: A ``PreTrainedModel`` for sequence classification, which may train on.
        precision: "auto" or a dtype's name.
    """
    is_shared = resolve_dtype(model.device, precision) == model.dtype  # else `wrap_model` copies
    return wrap_model(copy.deepcopy(model) if is_shared else model, precision)
