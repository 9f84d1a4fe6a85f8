"""Hugging Face sequence classifiers of any known family, edited through forward hooks on their modules.

Slower than `fused`, as it imports transformers and computes all positions, but supports every family.
"""

import contextlib
import inspect
from collections.abc import Iterator, Sequence
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from heuristic_core.models.batches import Batch
from heuristic_core.models.components import ComponentGrid
from heuristic_core.models.families import get_family, input_width
from heuristic_core.models.fused import label_names, padding_token
from heuristic_core.models.hugging_face import load_classifier
from heuristic_core.models.model import AttentionObserver, Edit, wants_projections
from heuristic_core.models.projections import projection_hooks
from heuristic_core.models.shrink import shrink
from heuristic_core.models.target import classify_at

if TYPE_CHECKING:
    from transformers import PreTrainedModel


class HookedModel:
    """See :class:`heuristic_core.models.model.Model`.

    Hooks exist only during a forward pass, so the model can be evaluated while it is being trained.

    Args:
        model: A ``PreTrainedModel`` for sequence classification.
    """

    def __init__(self, model: nn.Module):
        self.family = get_family(model.config.model_type)
        self._model, self._layers = model, self.family.layers(model)
        self.grid = ComponentGrid(len(self._layers), model.config.num_attention_heads)
        self.hidden = model.config.hidden_size
        self.pad = padding_token(model.config.to_dict())
        self.labels = label_names(model.config.to_dict())
        output = self._layers[0].get_submodule(self.family.output)
        self.head_size = input_width(output) // self.grid.heads
        self.device, self.dtype = output.weight.device, output.weight.dtype

    @classmethod
    def load(
        cls, folder: str | Path, device: str | torch.device = "cpu", dtype: torch.dtype = torch.float32
    ) -> "HookedModel":
        """Load a checkpoint folder through ``AutoModelForSequenceClassification``.

        Args:
            folder: Checkpoint folder.
            device: Device of the weights.
            dtype: Type to which the weights are converted.
        """
        model = load_classifier(folder, dtype=dtype)
        return cls(model.to(device).eval().requires_grad_(False))

    def remove_components(self, removed: Sequence[int], heads: Tensor, mlps: Tensor) -> "HookedModel":
        """See :meth:`heuristic_core.models.model.Model.remove_components`. The result takes no edits.

        Args:
            removed: Component indices.
            heads: Constant output of each head if removed, [layers, H, dh].
            mlps: Constant output of each MLP if removed, [layers, d].
        """
        smaller = copy(self)
        smaller._model = shrink(self._model, removed, heads, mlps)
        return smaller

    def logits(
        self, batch: Batch, edit: Edit | None = None, *, all_positions: bool = False, dropout: bool = False
    ) -> Tensor:
        """See :meth:`heuristic_core.models.model.Model.logits`.

        Args:
            batch: Encoded pairs.
            edit: Reads or replaces outputs of components.
            all_positions: Ignored: all positions are always computed.
            dropout: Whether to apply dropout at the rates of the model's configuration.
        """
        with self._mode(dropout), self._edited(edit), classify_at(self._model, batch.target):
            logits = self._model(**model_inputs(self._model, batch)).logits
        return logits.to(torch.promote_types(self.dtype, torch.float32))

    def observe_attention(self, batch: Batch, observer: AttentionObserver, edit: Edit | None = None) -> None:
        """See :meth:`heuristic_core.models.model.Model.observe_attention`.

        Args:
            batch: Encoded pairs.
            observer: Called with the number and the attention probabilities, [B, H, T, T], of each layer.
            edit: Reads or replaces outputs of components.
        """
        with eager_attention(self._model), self._mode(False), self._edited(edit):
            attentions = self._model(**model_inputs(self._model, batch), output_attentions=True).attentions
        for layer, probabilities in enumerate(attentions):
            observer(layer, probabilities)

    @contextlib.contextmanager
    def _mode(self, training: bool) -> Iterator[None]:
        before = self._model.training
        self._model.train(training)
        try:
            yield
        finally:
            self._model.train(before)

    @contextlib.contextmanager
    def _edited(self, edit: Edit | None) -> Iterator[None]:
        """Hook `edit` into every component; each application of a shared module counts as the next layer."""
        if wants_projections(edit):
            hooks = projection_hooks(self.family, self._model.config, self._layers, self.grid.heads, self.head_size)
            handles = [module.register_forward_hook(hook(edit)) for module, hook in hooks]
        else:
            handles = []
        for module in dict.fromkeys(self._layers) if edit else ():
            numbers = [number for number, layer in enumerate(self._layers) if layer is module]
            heads, mlps = iter(numbers), iter(numbers)

            def before(_, inputs, heads=heads):
                x = inputs[0].unflatten(-1, (self.grid.heads, self.head_size))
                return (edit("head", next(heads), x).flatten(-2), *inputs[1:])

            def after(_, inputs, output, mlps=mlps):
                return edit("mlp", next(mlps), output)

            handles.append(module.get_submodule(self.family.output).register_forward_pre_hook(before))
            handles.append(module.get_submodule(self.family.down).register_forward_hook(after))
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()


def model_inputs(model: nn.Module, batch: Batch) -> dict:
    """Return a batch as keyword arguments of a model's forward pass, without a cache.

    Args:
        model: A ``PreTrainedModel``.
        batch: Batch of pairs; token types are passed only to models that have them.
    """
    accepted = inspect.signature(model.forward).parameters
    inputs = {"input_ids": batch.ids, "attention_mask": batch.mask().long()}
    if "token_type_ids" in accepted and getattr(model.config, "type_vocab_size", 0) > 1:
        inputs["token_type_ids"] = batch.types
    return inputs | ({"use_cache": False} if "use_cache" in accepted else {})


@contextlib.contextmanager
def eager_attention(model: "PreTrainedModel") -> Iterator[None]:
    """Compute the attention of a Hugging Face model by explicit matrix products instead of a fused kernel."""
    before = model.config._attn_implementation
    model.set_attn_implementation("eager")
    try:
        yield
    finally:
        model.set_attn_implementation(before)
