"""Classification of a token within the sentence, instead of the first or the last token."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from heuristic_core.common.errors import InputError
from heuristic_core.config.models import NewModel, PretrainedModel
from heuristic_core.data.hub import CONFIG_FILE
from heuristic_core.models.families import FAMILIES, get_family
from heuristic_core.models.folder import resolve_folder
from heuristic_core.models.weight_files import read_object

if TYPE_CHECKING:
    from transformers import PreTrainedModel


def find_target_problem(model: NewModel | PretrainedModel) -> str | None:
    """Return why a model cannot classify a token within the sentence; None if it can, or if its files are missing."""
    if model.source == "new":
        return None
    try:
        model_type = read_object(Path(resolve_folder(model)) / CONFIG_FILE).get("model_type")
        family = get_family(model_type)
    except InputError:
        return None  # `find_problem` reports it
    if family.head:
        return None
    names = ", ".join(name for name, family in FAMILIES.items() if family.head)
    return f"task: target: model_type = {model_type!r} classifies whole sentences only; choose a model of {names}"


@contextlib.contextmanager
def classify_at(model: "PreTrainedModel", target: Tensor | None) -> Iterator[None]:
    """Let a Hugging Face sequence classifier classify the tokens at `target`.

    The classifier's head then gets the hidden state of the target at every position.

    Args:
        model: A ``PreTrainedModel`` for sequence classification.
        target: Positions of the classified tokens, int64 [B]; None for the model's usual one.
    """
    if target is None:
        yield
        return

    def spread(_, inputs):
        x = inputs[0]  # [B, T, d]
        return (x[torch.arange(len(x), device=x.device), target][:, None].expand_as(x), *inputs[1:])

    head = model.get_submodule(get_family(model.config.model_type).head)
    handle = head.register_forward_pre_hook(spread)
    try:
        yield
    finally:
        handle.remove()
