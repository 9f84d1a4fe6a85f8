"""Remove heads from a Hugging Face model in place, so that training cannot bring them back."""

from collections.abc import Collection
from typing import TYPE_CHECKING

import torch

from heuristic_core.common.errors import InputError
from heuristic_core.models.families import get_family, input_width

if TYPE_CHECKING:
    from transformers import PreTrainedModel


@torch.no_grad()
def close_heads(model: "PreTrainedModel", heads: Collection[tuple[int, int]]) -> None:
    """Close `heads` of `model`, so that it computes what zero ablation of them gives.

    The weights with which the attention's output projection reads these heads become zero and get no gradient. An
    optimizer whose step depends on gradients and weights, such as AdamW with weight decay, leaves them exactly zero,
    and so does loading a state saved from such a model.

    Args:
        model: A ``PreTrainedModel`` for sequence classification.
        heads: (layer, head) of each head, both counted from 0.

    Raises:
        InputError: The family is unknown, applies the same weights in several layers (ALBERT), or lacks such a head.
    """
    family = get_family(model.config.model_type)
    outputs = [layer.get_submodule(family.output) for layer in family.layers(model)]
    if len({id(output.weight) for output in outputs}) < len(outputs):
        raise InputError(
            f"lesion: model_type = {model.config.model_type!r} applies the same weights in several layers, so a "
            "head of one layer cannot be removed before fine-tuning; remove the block `lesion`"
        )
    count = model.config.num_attention_heads
    if unknown := [f"{layer}.{head}" for layer, head in heads if not (0 <= layer < len(outputs) and 0 <= head < count)]:
        raise InputError(f"lesion: unknown head {unknown[0]}: the model has {len(outputs)} layers of {count} heads")
    size = input_width(outputs[0]) // count
    for number, output in enumerate(outputs):
        closed = torch.zeros_like(output.weight, dtype=torch.bool)
        inputs = closed if isinstance(output, torch.nn.Linear) else closed.T  # GPT-2's Conv1D stores [in, out]
        for layer, head in heads:
            if layer == number:
                inputs[:, head * size : (head + 1) * size] = True
        if closed.any():
            output.weight.masked_fill_(closed, 0)
            output.weight.register_hook(lambda gradient, closed=closed: gradient.masked_fill(closed, 0))
