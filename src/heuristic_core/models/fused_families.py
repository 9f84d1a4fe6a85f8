"""Names of the weights that `fused` reads, for model families with the blocks of BERT or GPT-2.

To add a family with BERT's block (norm after each residual sum) or GPT-2's (norm before), add an entry.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Step:
    """A linear map of the classifier head.

    Attributes:
        linear: Name of its weights.
        activation: Key of `fused.ACTIVATION_FUNCTIONS` that is applied after it.
        dropout: Whether dropout is applied before it.
    """

    linear: str
    activation: str | None = None
    dropout: bool = False


@dataclass(frozen=True)
class FusedFamily:
    """Names of weights, without `.weight` and `.bias`; `{}` is the layer's number.

    Attributes:
        queries_keys_values: Three maps, or one whose rows are all queries, then all keys, then all values.
        projection: Map from the embeddings' width to the hidden width.
        decoder: Whether norms come before the sums, attention is causal, weights are stored as [in, out], and the last
            token that is not padding is classified instead of the first.
        positions_after_padding: Whether positions are counted from the padding token's number plus 1.
        attention_dropout_after: Whether dropout follows the attention's output projection.
        keys: This family's names of settings in config.json, by BERT's names, where they differ.
    """

    word: str
    position: str
    queries_keys_values: tuple[str, ...]
    attention_output: str
    attention_norm: str
    up: str
    down: str
    mlp_norm: str
    classifier: tuple[Step, ...]
    token_type: str | None = None
    embedding_norm: str | None = None
    projection: str | None = None
    final_norm: str | None = None
    decoder: bool = False
    positions_after_padding: bool = False
    attention_dropout_after: bool = True
    keys: Mapping[str, str] = field(default_factory=dict)

    def value(self, config: Mapping, name: str, default: Any = None) -> Any:
        """Return the value of a setting.

        Args:
            config: Content of config.json.
            name: The name that BERT's config.json gives to the setting.
            default: Value to return if the setting is missing.
        """
        return config.get(self.keys.get(name, name), default)


def _bert_like(prefix: str, **overrides) -> FusedFamily:
    layer = f"{prefix}.encoder.layer.{{}}."
    embeddings = f"{prefix}.embeddings."
    names = {
        "word": embeddings + "word_embeddings",
        "position": embeddings + "position_embeddings",
        "token_type": embeddings + "token_type_embeddings",
        "embedding_norm": embeddings + "LayerNorm",
        "queries_keys_values": tuple(f"{layer}attention.self.{part}" for part in ("query", "key", "value")),
        "attention_output": layer + "attention.output.dense",
        "attention_norm": layer + "attention.output.LayerNorm",
        "up": layer + "intermediate.dense",
        "down": layer + "output.dense",
        "mlp_norm": layer + "output.LayerNorm",
    }
    return FusedFamily(**(names | overrides))


FUSED_FAMILIES = {
    "bert": _bert_like("bert", classifier=(Step("bert.pooler.dense", "tanh"), Step("classifier", dropout=True))),
    "roberta": _bert_like(
        "roberta",
        positions_after_padding=True,
        classifier=(Step("classifier.dense", "tanh", dropout=True), Step("classifier.out_proj", dropout=True)),
    ),
    "electra": _bert_like(
        "electra",
        projection="electra.embeddings_project",
        classifier=(Step("classifier.dense", "gelu", dropout=True), Step("classifier.out_proj", dropout=True)),
    ),
    "distilbert": FusedFamily(
        word="distilbert.embeddings.word_embeddings",
        position="distilbert.embeddings.position_embeddings",
        embedding_norm="distilbert.embeddings.LayerNorm",
        queries_keys_values=tuple(f"distilbert.transformer.layer.{{}}.attention.{p}_lin" for p in "qkv"),
        attention_output="distilbert.transformer.layer.{}.attention.out_lin",
        attention_norm="distilbert.transformer.layer.{}.sa_layer_norm",
        up="distilbert.transformer.layer.{}.ffn.lin1",
        down="distilbert.transformer.layer.{}.ffn.lin2",
        mlp_norm="distilbert.transformer.layer.{}.output_layer_norm",
        attention_dropout_after=False,
        classifier=(Step("pre_classifier", "relu"), Step("classifier", dropout=True)),
        keys={
            "num_hidden_layers": "n_layers",
            "num_attention_heads": "n_heads",
            "hidden_size": "dim",
            "hidden_act": "activation",
            "hidden_dropout_prob": "dropout",
            "embedding_dropout_prob": "dropout",
            "attention_probs_dropout_prob": "attention_dropout",
            "classifier_dropout": "seq_classif_dropout",
        },
    ),
    "gpt2": FusedFamily(
        word="transformer.wte",
        position="transformer.wpe",
        queries_keys_values=("transformer.h.{}.attn.c_attn",),
        attention_output="transformer.h.{}.attn.c_proj",
        attention_norm="transformer.h.{}.ln_1",
        up="transformer.h.{}.mlp.c_fc",
        down="transformer.h.{}.mlp.c_proj",
        mlp_norm="transformer.h.{}.ln_2",
        final_norm="transformer.ln_f",
        decoder=True,
        classifier=(Step("score"),),
        keys={
            "num_hidden_layers": "n_layer",
            "num_attention_heads": "n_head",
            "hidden_size": "n_embd",
            "hidden_act": "activation_function",
            "layer_norm_eps": "layer_norm_epsilon",
            "hidden_dropout_prob": "resid_pdrop",
            "embedding_dropout_prob": "embd_pdrop",
            "attention_probs_dropout_prob": "attn_pdrop",
        },
    ),
}

# Settings that change the forward pass, with the only value that `fused` supports. `hooked` supports all values.
SUPPORTED_SETTINGS = {
    "position_embedding_type": "absolute",
    "scale_attn_weights": True,
    "scale_attn_by_inverse_layer_idx": False,
    "is_decoder": False,
    "add_cross_attention": False,
}
SUPPORTED_ACTIVATIONS = ("gelu", "gelu_new", "relu")


def fused_family(config: Mapping) -> FusedFamily | None:
    """Return the family of a `config.json`, or None if `fused` does not support the model."""
    family = FUSED_FAMILIES.get(config.get("model_type"))
    if family is None or family.value(config, "hidden_act") not in SUPPORTED_ACTIVATIONS:
        return None
    return family if all(config.get(key, value) == value for key, value in SUPPORTED_SETTINGS.items()) else None
