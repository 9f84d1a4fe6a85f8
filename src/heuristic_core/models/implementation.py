"""From a checkpoint folder, or a Hugging Face model in memory, to the implementation that fits."""

import copy
import json
from pathlib import Path

from heuristic_core.models.device import dtype_on, usable_device
from heuristic_core.models.families import family_of
from heuristic_core.models.fused import FusedModel
from heuristic_core.models.fused_families import fused_family
from heuristic_core.models.model import Model


def load_model(folder: str | Path, device: str = "cpu", precision: str = "float32") -> Model:
    """The classifier in checkpoint `folder`: fused where its family and settings allow, hooked otherwise.

    Raises InputError for a family that is not known, or where there is no such device.
    """
    dtype = dtype_on(usable_device(device), precision)
    config = json.loads((Path(folder) / "config.json").read_text())
    family_of(config.get("model_type"))
    if fused_family(config):
        return FusedModel.load(folder, device, dtype)
    from heuristic_core.models.hooked import HookedModel

    return HookedModel.load(folder, device, dtype)


def view_of(model, precision: str = "float32") -> Model:
    """A Hugging Face classifier in memory, with its weights as they are now; a copy of them if `precision` differs."""
    config, dtype = model.config.to_dict(), dtype_on(model.device, precision)
    if fused_family(config):
        return FusedModel(config, {name: value.detach().to(dtype) for name, value in model.state_dict().items()})
    from heuristic_core.models.hooked import HookedModel

    return HookedModel(model if model.dtype == dtype else copy.deepcopy(model).to(dtype))
