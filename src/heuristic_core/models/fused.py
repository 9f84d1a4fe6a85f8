"""BERT's encoder as a lean function of its weights, read straight from a checkpoint folder.

Equal to Hugging Face's ``BertForSequenceClassification`` in evaluation mode (a test holds them to 1e-5), without
importing transformers: that import takes several seconds, and hundreds of jobs start here. What it leaves out is what
pruning never needs: dropout, weight gradients, and every row of the last layer but the first token's, which alone
feeds the classifier.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor

from heuristic_core.components import ComponentGrid
from heuristic_core.models.batches import Batch

ACTIVATIONS = {"gelu": F.gelu, "relu": F.relu, "gelu_new": lambda x: F.gelu(x, approximate="tanh")}

# Called with ("head" | "mlp", layer, activation) where a component's output can be read or replaced. Heads: the context
# vectors before the output projection, [B, T, H, dh]. MLP: the output of its second linear map, [B, T, d].
Edit = Callable[[str, int, Tensor], Tensor]
# Called with (layer, probabilities [B, H, T, T]).
AttentionObserver = Callable[[int, Tensor], None]


class FusedBert:
    """The forward pass of a fine-tuned BERT.

    Attributes: grid, the components; labels, the class names in logit order.
    Raises ValueError for a checkpoint that is not BERT's, or whose attention this forward does not know.
    """

    def __init__(self, config: Mapping, weights: Mapping[str, Tensor]):
        _check(config)
        self.grid = ComponentGrid(config["num_hidden_layers"], config["num_attention_heads"])
        self.hidden = config["hidden_size"]
        self.head_size = self.hidden // self.grid.heads
        self.epsilon = config["layer_norm_eps"]
        self.activation = ACTIVATIONS[config["hidden_act"]]
        names = config["id2label"]
        self.labels = tuple(names[key] for key in sorted(names, key=int))
        self._weights = weights
        self._queries_keys_values = [self._join(layer) for layer in range(self.grid.layers)]

    @classmethod
    def load(cls, folder: str | Path) -> "FusedBert":
        """Read `config.json` and `model.safetensors` of a checkpoint folder."""
        from safetensors.torch import load_file

        folder = Path(folder)
        return cls(json.loads((folder / "config.json").read_text()), load_file(folder / "model.safetensors"))

    def logits(self, batch: Batch, edit: Edit | None = None, every_row: bool = False) -> Tensor:
        """Class logits [B, classes].

        edit: reads or replaces component outputs. every_row: compute all rows of the last layer too, which `edit`
        then sees; otherwise it sees the first token's row there, [B, 1, ...].
        """
        return self._classify(self._encode(batch, edit, every_row, None))

    def observe_attention(self, batch: Batch, observer: AttentionObserver) -> None:
        """Run the encoder and hand every layer's attention probabilities to `observer`."""
        self._encode(batch, None, True, observer)

    def _encode(self, batch, edit, every_row, observer) -> Tensor:
        bias = None
        if batch.real is not None:
            bias = torch.zeros(batch.real.shape).masked_fill_(~batch.real, -torch.inf)[:, None, None]  # [B, 1, 1, T]
        x = self._embed(batch)  # [B, T, d]
        for layer in range(self.grid.layers):
            first_only = layer == self.grid.layers - 1 and not every_row
            queries, keys, values = self._project(layer, x, first_only)  # [B, H, T or 1, dh]
            if first_only:
                x = x[:, :1]
            context = F.scaled_dot_product_attention(queries, keys, values, attn_mask=bias).transpose(
                1, 2
            )  # [B, T, H, dh]
            if observer:
                scores = (queries * self.head_size**-0.5) @ keys.transpose(-1, -2)
                observer(layer, torch.softmax(scores if bias is None else scores + bias, -1))
            if edit:
                context = edit("head", layer, context)
            name = f"encoder.layer.{layer}"
            attended = self._linear(f"{name}.attention.output.dense", context.flatten(-2))
            x = self._norm(f"{name}.attention.output.LayerNorm", x + attended)
            inner = self.activation(self._linear(f"{name}.intermediate.dense", x))
            outer = self._linear(f"{name}.output.dense", inner)
            if edit:
                outer = edit("mlp", layer, outer)
            x = self._norm(f"{name}.output.LayerNorm", x + outer)
        return x

    def _embed(self, batch: Batch) -> Tensor:
        name = "embeddings.{}_embeddings.weight".format
        positions = self._get(name("position"))[: batch.ids.shape[1]]
        x = F.embedding(batch.ids, self._get(name("word"))) + F.embedding(batch.types, self._get(name("token_type")))
        return self._norm("embeddings.LayerNorm", x + positions)

    def _project(self, layer: int, x: Tensor, first_only: bool) -> list[Tensor]:
        weight, bias = self._queries_keys_values[layer]
        if first_only:
            d = self.hidden
            parts = [F.linear(x[:, :1], weight[:d], bias[:d])]
            parts += F.linear(x, weight[d:], bias[d:]).split(d, -1)
        else:
            parts = F.linear(x, weight, bias).split(self.hidden, -1)
        return [p.unflatten(-1, (self.grid.heads, self.head_size)).transpose(1, 2) for p in parts]

    def _classify(self, x: Tensor) -> Tensor:
        pooled = torch.tanh(self._linear("pooler.dense", x[:, 0]))
        return F.linear(pooled, self._weights["classifier.weight"], self._weights["classifier.bias"])

    def _join(self, layer: int) -> tuple[Tensor, Tensor]:
        """Query, key and value maps of one layer as one matrix [3 d, d] and one bias: one product instead of three."""
        names = [f"encoder.layer.{layer}.attention.self.{part}" for part in ("query", "key", "value")]
        return (
            torch.cat([self._get(f"{n}.weight") for n in names]),
            torch.cat([self._get(f"{n}.bias") for n in names]),
        )

    def _get(self, name: str) -> Tensor:
        return self._weights[f"bert.{name}"]

    def _linear(self, name: str, x: Tensor) -> Tensor:
        return F.linear(x, self._get(f"{name}.weight"), self._get(f"{name}.bias"))

    def _norm(self, name: str, x: Tensor) -> Tensor:
        return F.layer_norm(x, (self.hidden,), self._get(f"{name}.weight"), self._get(f"{name}.bias"), self.epsilon)


def _check(config: Mapping) -> None:
    if config.get("model_type") != "bert":
        raise ValueError(f"config.json: model_type = {config.get('model_type')!r}; known: 'bert'")
    if config.get("position_embedding_type", "absolute") != "absolute":
        raise ValueError(
            f"config.json: position_embedding_type = {config['position_embedding_type']!r}; known: 'absolute'"
        )
    if config["hidden_act"] not in ACTIVATIONS:
        raise ValueError(f"config.json: hidden_act = {config['hidden_act']!r}; known: {', '.join(ACTIVATIONS)}")
