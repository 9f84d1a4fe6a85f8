"""Where Hugging Face architectures keep their heads and MLPs, one entry per family.

A component of a model is one query head (with grouped-query attention, several share keys and values) or one MLP.
To add a family, add an entry to `FAMILIES`, one to `PARAMETERS` of `parameters.py`, one to `CLASSIFIER_MODULES` of
`classifier_heads.py` if it has such a module, and a tiny model of it to `tests/families.py`; the tests check the
entries.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from torch import nn

from heuristic_core.models.parameters import get_parameters


@dataclass(frozen=True)
class Family:
    """Module paths of one architecture, relative to a layer.

    Attributes:
        layers: Function that lists a model's layers in the order in which they are applied. A layer that is applied
            several times is listed as often.
        projections: Linear maps to queries, keys and values, whose output rows belong to heads.
        output: The attention's output projection, whose input is the heads' context vectors.
        up: The maps into the MLP.
        down: The map out of the MLP.
        order: Order of the projections' rows: one map each for queries, keys and values ("separate"), one map with all
            queries, all keys, all values ("stacked"), or one map head by head ("interleaved").
        head_counts: Attributes that hold the number of heads.
        widths: Attributes that hold the number of heads times the head size.
        output_bias: How a checkpoint can hold a constant in the bias of `output`: "always", the flag in its config
            that adds biases, or None.
        down_bias: The same for `down`; "output" puts an MLP's constant into the bias of `output`.
        dropout: All keys of the config for dropout.
    """

    layers: Callable[[Any], list]
    projections: tuple[str, ...]
    output: str
    up: tuple[str, ...]
    down: str
    order: Literal["separate", "stacked", "interleaved"] = "separate"
    head_counts: tuple[str, ...] = ()
    widths: tuple[str, ...] = ()
    output_bias: str | None = "always"
    down_bias: str | None = "always"
    dropout: tuple[str, ...] = ("hidden_dropout_prob", "attention_probs_dropout_prob", "classifier_dropout")


def _layers_at(path: str) -> Callable[[Any], list]:
    return lambda model: list(model.get_submodule(path))


def _albert_layers(model) -> list:
    """List ALBERT's layers: one group is applied many times, and each application has components of its own."""
    config, groups = model.config, model.albert.encoder.albert_layer_groups
    applied = [
        groups[int(i * config.num_hidden_groups / config.num_hidden_layers)] for i in range(config.num_hidden_layers)
    ]
    return [layer for group in applied for layer in group.albert_layers]


def _bert_like(prefix: str) -> Family:
    return Family(
        layers=_layers_at(f"{prefix}.encoder.layer"),
        projections=("attention.self.query", "attention.self.key", "attention.self.value"),
        output="attention.output.dense",
        up=("intermediate.dense",),
        down="output.dense",
    )


def _llama_like(output_bias: str | None, down_bias: str | None) -> Family:
    return Family(
        layers=_layers_at("model.layers"),
        projections=("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"),
        output="self_attn.o_proj",
        up=("mlp.gate_proj", "mlp.up_proj"),
        down="mlp.down_proj",
        output_bias=output_bias,
        down_bias=down_bias,
        dropout=("attention_dropout",),
    )


FAMILIES = {
    "bert": _bert_like("bert"),
    "roberta": _bert_like("roberta"),
    "electra": _bert_like("electra"),
    "distilbert": Family(
        layers=_layers_at("distilbert.transformer.layer"),
        projections=("attention.q_lin", "attention.k_lin", "attention.v_lin"),
        output="attention.out_lin",
        up=("ffn.lin1",),
        down="ffn.lin2",
        dropout=("dropout", "attention_dropout", "seq_classif_dropout"),
    ),
    "albert": Family(
        layers=_albert_layers,
        projections=("attention.query", "attention.key", "attention.value"),
        output="attention.dense",
        up=("ffn",),
        down="ffn_output",
        dropout=("hidden_dropout_prob", "attention_probs_dropout_prob", "classifier_dropout_prob"),
    ),
    "deberta-v2": Family(  # DeBERTa-v3 too
        layers=_layers_at("deberta.encoder.layer"),
        projections=tuple(f"attention.self.{p}_proj" for p in ("query", "key", "value", "pos_key", "pos_query")),
        output="attention.output.dense",
        up=("intermediate.dense",),
        down="output.dense",
        head_counts=("attention.self.num_attention_heads",),
        dropout=("hidden_dropout_prob", "attention_probs_dropout_prob", "pooler_dropout", "cls_dropout"),
    ),
    "modernbert": Family(
        layers=_layers_at("model.layers"),
        projections=("attn.Wqkv",),
        order="stacked",
        output="attn.Wo",
        up=("mlp.Wi",),
        down="mlp.Wo",
        output_bias="attention_bias",
        down_bias="mlp_bias",
        dropout=("embedding_dropout", "mlp_dropout", "attention_dropout", "classifier_dropout"),
    ),
    "gpt2": Family(
        layers=_layers_at("transformer.h"),
        projections=("attn.c_attn",),
        order="stacked",
        output="attn.c_proj",
        up=("mlp.c_fc",),
        down="mlp.c_proj",
        widths=("attn.split_size",),
        dropout=("resid_pdrop", "embd_pdrop", "attn_pdrop"),
    ),
    "gpt_neox": Family(  # Pythia
        layers=_layers_at("gpt_neox.layers"),
        projections=("attention.query_key_value",),
        order="interleaved",
        output="attention.dense",
        up=("mlp.dense_h_to_4h",),
        down="mlp.dense_4h_to_h",
        output_bias="attention_bias",
        dropout=("hidden_dropout", "attention_dropout"),
    ),
    "olmo": _llama_like("attention_bias", "output"),
    "llama": _llama_like("attention_bias", "mlp_bias"),
    "mistral": _llama_like(None, None),
    "qwen2": _llama_like(None, None),
    "gemma2": _llama_like(None, None),
    "qwen3": _llama_like("attention_bias", "output"),
}


def get_family(model_type: str | None) -> Family:
    """Return the family of a `config.json`'s `model_type`.

    Raises:
        InputError: The family is unknown; the message lists the known ones.
    """
    get_parameters(model_type)
    return FAMILIES[model_type]


def input_width(linear: nn.Module) -> int:
    """Return the input width of an ``nn.Linear``, or of GPT-2's ``Conv1D``, which stores its weight as [in, out]."""
    return linear.in_features if isinstance(linear, nn.Linear) else linear.weight.shape[0]
