"""A minimal forward pass for models of the BERT and GPT-2 families, computed from a checkpoint's weights.

It equals Hugging Face's forward pass (tests: within 1e-5) without importing transformers, which takes several seconds
in each of hundreds of jobs. It omits what pruning never needs: gradients of weights, and all positions of the last
layer but the one that is classified.
"""

import json
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor

from heuristic_core.models.attention import additive_mask, attend, probabilities
from heuristic_core.models.batches import Batch
from heuristic_core.models.components import ComponentGrid
from heuristic_core.models.fused_families import FusedFamily, fused_family
from heuristic_core.models.fused_layer import WeightAndBias, read_layer, remove_heads
from heuristic_core.models.linear import Linear
from heuristic_core.models.model import PROJECTIONS, AttentionObserver, Edit, wants_projections

ACTIVATION_FUNCTIONS = {
    "gelu": F.gelu,
    "gelu_new": partial(F.gelu, approximate="tanh"),
    "relu": F.relu,
    "tanh": torch.tanh,
    None: lambda x: x,
}


@dataclass(frozen=True)
class Rates:
    """Dropout rates by position in the network; all 0 for a pass without dropout."""

    embedding: float = 0.0
    attention: float = 0.0
    residual: float = 0.0
    classifier: float = 0.0


class FusedModel:
    """See :class:`heuristic_core.models.model.Model`.

    Args:
        config: The checkpoint's config.json.
        weights: Tensors by name.

    Raises:
        ValueError: This forward pass does not support the configuration.
    """

    def __init__(self, config: Mapping, weights: Mapping[str, Tensor]):
        family = fused_family(config)
        if family is None:
            raise ValueError(
                f"config.json: model_type = {config.get('model_type')!r} with these settings has no fused forward pass"
            )
        self._family, self._weights = family, weights
        self.grid = ComponentGrid(
            family.value(config, "num_hidden_layers"), family.value(config, "num_attention_heads")
        )
        self.hidden = family.value(config, "hidden_size")
        self.head_size = self.hidden // self.grid.heads
        self.pad = padding_token(config)
        self.labels = label_names(config)
        self._epsilon = family.value(config, "layer_norm_eps", 1e-12)
        self._activation = ACTIVATION_FUNCTIONS[family.value(config, "hidden_act")]
        self._rates = _rates(family, config)
        self._layers = [read_layer(family, weights, number, self.grid.heads) for number in range(self.grid.layers)]
        self.device, self.dtype = weights[f"{family.word}.weight"].device, weights[f"{family.word}.weight"].dtype

    @classmethod
    def load(
        cls, folder: str | Path, device: str | torch.device = "cpu", dtype: torch.dtype = torch.float32
    ) -> "FusedModel":
        """Load a model from `config.json` and `model.safetensors` in a checkpoint folder.

        Args:
            folder: Checkpoint folder.
            device: Device of the weights.
            dtype: Type to which the weights are converted.
        """
        from safetensors.torch import load_file

        folder = Path(folder)
        weights = load_file(folder / "model.safetensors", device=str(device))
        return cls(json.loads((folder / "config.json").read_text()), {k: v.to(dtype) for k, v in weights.items()})

    def remove_components(self, removed: Sequence[int], heads: Tensor, mlps: Tensor) -> "FusedModel":
        """See :meth:`heuristic_core.models.model.Model.remove_components`.

        Edits of the result see the remaining heads only, and no removed MLP.

        Args:
            removed: Component indices.
            heads: Constant output of each head if removed, [layers, H, dh].
            mlps: Constant output of each MLP if removed, [layers, d].
        """
        small = copy(self)
        removed_set, size, first_mlp = set(removed), self.grid.heads, self.grid.layers * self.grid.heads
        small._layers = list(self._layers)
        for number, layer in enumerate(self._layers):
            kept = [h for h in range(size) if number * size + h not in removed_set]
            if len(kept) < size:
                layer = remove_heads(layer, kept, heads[number].to(self.dtype))
            if first_mlp + number in removed_set:
                layer = replace(layer, up=None, down=Linear(layer.down.weight[:, :0], mlps[number].to(self.dtype)))
            small._layers[number] = layer
        return small

    def logits(
        self, batch: Batch, edit: Edit | None = None, *, all_positions: bool = False, dropout: bool = False
    ) -> Tensor:
        """See :meth:`heuristic_core.models.model.Model.logits`.

        Args:
            batch: Encoded pairs.
            edit: Reads or replaces outputs of components.
            all_positions: Whether `edit` sees all positions of the last layer.
            dropout: Whether to apply dropout at the rates of the model's configuration.
        """
        x = self._encode(batch, edit, all_positions, self._rates if dropout else Rates(), None)
        logits = self._classify(x, self._rates.classifier if dropout else 0.0)
        return logits.to(torch.promote_types(self.dtype, torch.float32))

    def observe_attention(self, batch: Batch, observer: AttentionObserver, edit: Edit | None = None) -> None:
        """See :meth:`heuristic_core.models.model.Model.observe_attention`.

        Args:
            batch: Encoded pairs.
            observer: Called with the number and the attention probabilities, [B, H, T, T], of each layer.
            edit: Reads or replaces outputs of components.
        """
        self._encode(batch, edit, True, Rates(), observer)

    def _encode(self, batch, edit, all_positions, rates, observer) -> Tensor:
        """Compute the hidden state at the classified position of every pair, [B, d]."""
        row, last = self._classified_position(batch), self.grid.layers - 1
        first, x = getattr(edit, "start", None) or (0, self._embed(batch, rates.embedding))  # x: [B, T, d]
        mask = None if self._family.decoder else additive_mask(batch.real, self.dtype)
        for number in range(first, self.grid.layers):
            if getattr(edit, "inputs", False):
                edit("input", number, x)
            single = number == last and not all_positions
            x = self._block(number, x, row, single, mask, edit, rates, observer)
        x = (_select(x, row) if all_positions else x)[:, 0]
        return self._norm(self._affine(self._family.final_norm), x) if self._family.decoder else x

    def _block(self, number, x, row, single, mask, edit, rates, observer) -> Tensor:
        """Apply layer `number` to x [B, T, d]; `single`: at the classified position only, [B, 1, d]."""
        layer, norm_first = self._layers[number], self._family.decoder
        normed = self._norm(layer.attention_norm, x) if norm_first else x
        x = _select(x, row) if single else x
        if layer.heads:
            context = self._attend(number, normed, row, single, mask, edit, rates.attention, observer)
            if edit:
                context = edit("head", number, context)
            attended = layer.output(context.flatten(-2))
        else:
            attended = layer.output.bias.expand_as(x)
        x = x + (_dropout(attended, rates.residual) if self._family.attention_dropout_after else attended)
        x = x if norm_first else self._norm(layer.attention_norm, x)
        if layer.up:
            inner = self._norm(layer.mlp_norm, x) if norm_first else x
            outer = layer.down(self._activation(layer.up(inner)))
            if edit:
                outer = edit("mlp", number, outer)
        else:
            outer = layer.down.bias.expand_as(x)
        x = x + _dropout(outer, rates.residual)
        return x if norm_first else self._norm(layer.mlp_norm, x)

    def _attend(self, number, x, row, single, mask, edit, rate, observer) -> Tensor:
        """Compute context vectors [B, T, H, dh]; `single`: at the classified position only, [B, 1, H, dh]."""
        layer, size, causal = self._layers[number], self.head_size, self._family.decoder and not single
        if single:
            queries = layer.queries(_select(x, row)).unflatten(-1, (layer.heads, size))
            parts = (queries, *layer.keys_values(x).unflatten(-1, (2, layer.heads, size)).unbind(-3))
            if self._family.decoder:  # its single query attends to earlier positions
                mask = additive_mask(torch.arange(x.shape[1], device=x.device) <= row[:, None], self.dtype)
        else:
            parts = layer.queries_keys_values(x).unflatten(-1, (3, layer.heads, size)).unbind(-3)
        if wants_projections(edit):
            parts = (edit(kind, number, part) for kind, part in zip(PROJECTIONS, parts, strict=True))
        queries, keys, values = (part.transpose(1, 2) for part in parts)  # [B, H, T or 1, dh]
        if observer:
            observer(number, probabilities(queries, keys, mask, causal))
        return attend(queries, keys, values, mask, causal, rate).transpose(1, 2)

    def _embed(self, batch: Batch, rate: float) -> Tensor:
        family, table = self._family, lambda name: self._weights[f"{name}.weight"]
        first = self.pad + 1 if family.positions_after_padding else 0
        x = F.embedding(batch.ids, table(family.word))
        if family.token_type:
            types = batch.types if len(table(family.token_type)) > 1 else torch.zeros_like(batch.types)
            x = x + F.embedding(types, table(family.token_type))
        x = x + table(family.position)[first : first + batch.ids.shape[1]]
        if family.embedding_norm:
            x = self._norm(self._affine(family.embedding_norm), x)
        x = _dropout(x, rate)
        if family.projection and f"{family.projection}.weight" in self._weights:
            x = F.linear(x, *self._affine(family.projection))
        return x

    def _classified_position(self, batch: Batch) -> Tensor | None:
        """Return the classified positions, int64 [B]; None for the first token.

        They are the batch's targets or, in a decoder, the last tokens that are not padding.
        """
        if batch.target is not None or not self._family.decoder:
            return batch.target
        position = torch.arange(batch.ids.shape[1], device=batch.ids.device)
        return (position * (batch.ids != self.pad)).argmax(-1)

    def _classify(self, x: Tensor, rate: float) -> Tensor:
        for step in self._family.classifier:
            x = _dropout(x, rate) if step.dropout else x
            x = ACTIVATION_FUNCTIONS[step.activation](F.linear(x, *self._affine(step.linear)))
        return x

    def _affine(self, name: str) -> WeightAndBias:
        return self._weights[f"{name}.weight"], self._weights.get(f"{name}.bias")

    def _norm(self, scale: WeightAndBias, x: Tensor) -> Tensor:
        return F.layer_norm(x, scale[0].shape, *scale, self._epsilon)


def label_names(config: Mapping) -> tuple[str, ...]:
    """Return the class names of a `config.json` in logit order."""
    return tuple(config["id2label"][key] for key in sorted(config["id2label"], key=int))


def padding_token(config: Mapping) -> int:
    """Return the padding token of a `config.json`.

    Raises:
        ValueError: It names none, so that padding in a batch could not be recognised.
    """
    pad = config.get("pad_token_id")
    if pad is None:
        raise ValueError("config.json: pad_token_id is missing; set it to the token that fills shorter inputs")
    return pad


def _rates(family: FusedFamily, config: Mapping) -> Rates:
    residual = family.value(config, "hidden_dropout_prob", 0.0)
    classifier = family.value(config, "classifier_dropout")
    return Rates(
        family.value(config, "embedding_dropout_prob", residual),
        family.value(config, "attention_probs_dropout_prob", 0.0),
        residual,
        residual if classifier is None else classifier,
    )


def _select(x: Tensor, row: Tensor | None) -> Tensor:
    """Select one position of each pair, [B, 1, d]: position `row` [B], or the first."""
    return x[:, :1] if row is None else x[torch.arange(len(x), device=x.device), row][:, None]


def _dropout(x: Tensor, rate: float) -> Tensor:
    return F.dropout(x, rate) if rate else x
