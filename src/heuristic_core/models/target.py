"""Classification of a token within the sentence, instead of the first or the last token."""

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from heuristic_core.common.errors import InputError
from heuristic_core.models.classifier_heads import CLASSIFIER_MODULES, describe_unsupported

if TYPE_CHECKING:
    from transformers import PreTrainedModel


@contextlib.contextmanager
def classify_at(model: "PreTrainedModel", target: Tensor | None) -> Iterator[None]:
    """Let a Hugging Face sequence classifier classify the tokens at `target`.

    The classifier's head then gets the hidden state of the target at every position.

    Args:
        model: A ``PreTrainedModel`` for sequence classification.
        target: Positions of the classified tokens, int64 [B]; None for the model's usual one.

    Raises:
        InputError: Models of this family classify whole sentences only.
    """
    if target is None:
        yield
        return

    def spread(_, inputs):
        x = inputs[0]  # [B, T, d]
        return (x[torch.arange(len(x), device=x.device), target][:, None].expand_as(x), *inputs[1:])

    if (model_type := model.config.model_type) not in CLASSIFIER_MODULES:
        raise InputError(describe_unsupported(model_type))
    head = model.get_submodule(CLASSIFIER_MODULES[model_type])
    handle = head.register_forward_pre_hook(spread)
    try:
        yield
    finally:
        handle.remove()
