"""Heads taken out of a Hugging Face model in place, so that no training brings them back."""

from collections.abc import Collection

import torch

from heuristic_core.common.errors import InputError
from heuristic_core.models.families import family_of, inputs_of


@torch.no_grad()
def close_heads(model, heads: Collection[tuple[int, int]]) -> None:
    """Close `heads`, each (layer, head), of `model`, a ``PreTrainedModel`` for sequence classification.

    What the attention's output projection reads of them is multiplied by zero, and these weights get no gradient. So an
    optimizer whose step is a function of gradients and weights, AdamW with weight decay included, leaves them exactly
    zero, and loading a state that was saved of them does, too. The model computes what zero ablation of them gives.
    Raises InputError for an unknown family, and for one that applies the same weights in several layers (ALBERT), where
    no head of one layer can be closed by itself.
    """
    family = family_of(model.config.model_type)
    outputs = [layer.get_submodule(family.output) for layer in family.layers(model)]
    if len({id(output.weight) for output in outputs}) < len(outputs):
        raise InputError(
            f"lesion: model_type = {model.config.model_type!r} applies the same weights in several layers, so that a "
            "head of one of them cannot be taken out before fine-tuning; leave out the block `lesion`"
        )
    count = model.config.num_attention_heads
    if unknown := [f"{layer}.{head}" for layer, head in heads if not (0 <= layer < len(outputs) and 0 <= head < count)]:
        raise InputError(f"no head {unknown[0]} in a model of {len(outputs)} layers with {count} heads")
    size = inputs_of(outputs[0]) // count
    for number, output in enumerate(outputs):
        closed = torch.zeros_like(output.weight, dtype=torch.bool)
        inputs = closed if isinstance(output, torch.nn.Linear) else closed.T  # GPT-2's Conv1D stores [in, out]
        for layer, head in heads:
            if layer == number:
                inputs[:, head * size : (head + 1) * size] = True
        if closed.any():
            output.weight.masked_fill_(closed, 0)
            output.weight.register_hook(lambda gradient, closed=closed: gradient.masked_fill(closed, 0))
