"""From a checkpoint folder, or a Hugging Face model in memory, to the implementation that fits."""

import json
from pathlib import Path

import torch

from heuristic_core.errors import InputError
from heuristic_core.models.families import family_of
from heuristic_core.models.fused import FusedModel
from heuristic_core.models.fused_families import fused_family
from heuristic_core.models.model import Model

PRECISIONS = {"float32": torch.float32, "bfloat16": torch.bfloat16}


def load_model(folder: str | Path, device: str = "cpu", precision: str = "float32") -> Model:
    """The classifier in checkpoint `folder`: fused where its family and settings allow, hooked otherwise.

    Raises InputError for a family that is not known, or where there is no such device.
    """
    if device == "cuda" and not torch.cuda.is_available():
        raise InputError("device = 'cuda': no NVIDIA GPU is usable here; set device = 'cpu', or run where there is one")
    config = json.loads((Path(folder) / "config.json").read_text())
    family_of(config.get("model_type"))
    if fused_family(config):
        return FusedModel.load(folder, device, PRECISIONS[precision])
    from heuristic_core.models.hooked import HookedModel

    return HookedModel.load(folder, device, PRECISIONS[precision])


def view_of(model) -> Model:
    """A Hugging Face classifier in memory, with its weights as they are now."""
    config = model.config.to_dict()
    if fused_family(config):
        return FusedModel(config, {name: value.detach() for name, value in model.state_dict().items()})
    from heuristic_core.models.hooked import HookedModel

    return HookedModel(model)
