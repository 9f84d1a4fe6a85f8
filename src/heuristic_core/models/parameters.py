"""Names and shapes of the parameters that a checkpoint must hold, computed from its config.json.

The classification head and the pooler are left out, as fine-tuning can initialise them. Nothing here imports torch: a
dry run compares these names with the files. Tests compare them with transformers' modules.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from heuristic_core.common.errors import InputError

Shapes = dict[str, tuple[int, ...]]


@dataclass(frozen=True)
class Parameters:
    """Parameters of one family.

    Attributes:
        base: The module that holds them.
        shapes: Function from a configuration to shapes, by names below `base`.
        layers: Path of a layer, without its number.
        aliases: The family's names of settings, by common name.
        defaults: Values of settings that config.json omits.
        positions_after_padding: Whether positions start after the padding token's number.
        layer_count_key: The setting that holds the number of layers.
        head: Name of the last matrix of the sequence classifier.
    """

    base: str
    shapes: Callable[[Mapping[str, Any]], Shapes]
    layers: str = "layers"
    aliases: Mapping[str, str] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)
    positions_after_padding: bool = False
    layer_count_key: str = "num_hidden_layers"
    head: str = "classifier.weight"

    def settings(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """Return the settings that determine shapes, by their common names."""
        common_names = {self.aliases.get(name, name): name for name in SETTINGS}
        values = {common_names.get(name, name): value for name, value in config.items() if value is not None}
        return self.defaults | values


SETTINGS = ("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "max_position_embeddings")


def _linear(name: str, inputs: int, outputs: int, bias: bool = True) -> Shapes:
    return {f"{name}.weight": (outputs, inputs)} | ({f"{name}.bias": (outputs,)} if bias else {})


def _norm(name: str, width: int, bias: bool = True) -> Shapes:
    return {f"{name}.weight": (width,)} | ({f"{name}.bias": (width,)} if bias else {})


def _repeated(path: str, count: int, layer: Shapes) -> Shapes:
    return {f"{path}.{number}.{name}": shape for number in range(count) for name, shape in layer.items()}


def _embeddings(c: Mapping, width: int, positions: bool = True) -> Shapes:
    shapes = {"embeddings.word_embeddings.weight": (c["vocab_size"], width)} | _norm("embeddings.LayerNorm", width)
    if positions:
        shapes["embeddings.position_embeddings.weight"] = (c["max_position_embeddings"], width)
    if c.get("type_vocab_size"):
        shapes["embeddings.token_type_embeddings.weight"] = (c["type_vocab_size"], width)
    return shapes


def _block(c: Mapping, projections: tuple[str, ...]) -> Shapes:
    """Return the shapes of one layer of a BERT-like model."""
    d, f = c["hidden_size"], c["intermediate_size"]
    shapes = {}
    for name in projections:
        shapes |= _linear(f"attention.self.{name}", d, d)
    for name in ("attention.output", "output"):
        shapes |= _norm(f"{name}.LayerNorm", d)
    shapes |= _linear("attention.output.dense", d, d) | _linear("intermediate.dense", d, f)
    return shapes | _linear("output.dense", f, d)


def _bert(c: Mapping) -> Shapes:
    d, e = c["hidden_size"], c.get("embedding_size", c["hidden_size"])
    layers = _repeated("encoder.layer", c["num_hidden_layers"], _block(c, ("query", "key", "value")))
    return _embeddings(c, e) | ({} if e == d else _linear("embeddings_project", e, d)) | layers


def _distilbert(c: Mapping) -> Shapes:
    d, f = c["hidden_size"], c["intermediate_size"]
    layer = _norm("sa_layer_norm", d) | _norm("output_layer_norm", d) | _linear("ffn.lin1", d, f)
    layer |= _linear("ffn.lin2", f, d)
    for name in ("q_lin", "k_lin", "v_lin", "out_lin"):
        layer |= _linear(f"attention.{name}", d, d)
    return _embeddings(c, d) | _repeated("transformer.layer", c["num_hidden_layers"], layer)


def _albert(c: Mapping) -> Shapes:
    d, e, f = c["hidden_size"], c["embedding_size"], c["intermediate_size"]
    layer = _norm("full_layer_layer_norm", d) | _norm("attention.LayerNorm", d)
    layer |= _linear("ffn", d, f) | _linear("ffn_output", f, d)
    for name in ("query", "key", "value", "dense"):
        layer |= _linear(f"attention.{name}", d, d)
    group = _repeated("albert_layers", c["inner_group_num"], layer)
    groups = _repeated("encoder.albert_layer_groups", c["num_hidden_groups"], group)
    return _embeddings(c, e) | _linear("encoder.embedding_hidden_mapping_in", e, d) | groups


def _deberta(c: Mapping) -> Shapes:
    d, e = c["hidden_size"], c.get("embedding_size", c["hidden_size"])
    shapes, projections = _embeddings(c, e, c["position_biased_input"]), ("query_proj", "key_proj", "value_proj")
    shapes |= _norm("embeddings.LayerNorm", d)  # after the projection
    if e != d:
        shapes |= _linear("embeddings.embed_proj", e, d, bias=False)
    if c["relative_attention"]:
        if not c["share_att_key"]:
            kinds = {"c2p": "pos_key_proj", "p2c": "pos_query_proj"}
            projections += tuple(name for kind, name in kinds.items() if kind in c["pos_att_type"])
        furthest = c["max_relative_positions"] if c["max_relative_positions"] > 0 else c["max_position_embeddings"]
        furthest = c["position_buckets"] if c["position_buckets"] > 0 else furthest
        shapes["encoder.rel_embeddings.weight"] = (2 * furthest, d)
    if "layer_norm" in c["norm_rel_ebd"].lower():
        shapes |= _norm("encoder.LayerNorm", d)
    if c["conv_kernel_size"] > 0:
        shapes |= {"encoder.conv.conv.weight": (d, d // c["conv_groups"], c["conv_kernel_size"])}
        shapes |= {"encoder.conv.conv.bias": (d,)} | _norm("encoder.conv.LayerNorm", d)
    return shapes | _repeated("encoder.layer", c["num_hidden_layers"], _block(c, projections))


def _modernbert(c: Mapping) -> Shapes:
    d, f, norm = c["hidden_size"], c["intermediate_size"], c["norm_bias"]
    layer = _norm("attn_norm", d, norm) | _norm("mlp_norm", d, norm)
    layer |= _linear("attn.Wqkv", d, 3 * d, c["attention_bias"]) | _linear("attn.Wo", d, d, c["attention_bias"])
    layer |= _linear("mlp.Wi", d, 2 * f, c["mlp_bias"]) | _linear("mlp.Wo", f, d, c["mlp_bias"])
    shapes = {"embeddings.tok_embeddings.weight": (c["vocab_size"], d)} | _norm("embeddings.norm", d, norm)
    shapes |= _repeated("layers", c["num_hidden_layers"], layer) | _norm("final_norm", d, norm)
    return {name: shape for name, shape in shapes.items() if not name.startswith("layers.0.attn_norm.")}


def _gpt2(c: Mapping) -> Shapes:
    d, f = c["hidden_size"], c.get("n_inner", 4 * c["hidden_size"])
    layer = _norm("ln_1", d) | _norm("ln_2", d)
    for name, inputs, outputs in (
        ("attn.c_attn", d, 3 * d),
        ("attn.c_proj", d, d),
        ("mlp.c_fc", d, f),
        ("mlp.c_proj", f, d),
    ):
        layer |= {f"{name}.weight": (inputs, outputs), f"{name}.bias": (outputs,)}  # Conv1D
    shapes = {"wte.weight": (c["vocab_size"], d), "wpe.weight": (c["max_position_embeddings"], d)}
    return shapes | _repeated("h", c["num_hidden_layers"], layer) | _norm("ln_f", d)


def _gpt_neox(c: Mapping) -> Shapes:
    d, f, bias = c["hidden_size"], c["intermediate_size"], c["attention_bias"]
    layer = _norm("input_layernorm", d) | _norm("post_attention_layernorm", d)
    layer |= _linear("attention.query_key_value", d, 3 * d, bias) | _linear("attention.dense", d, d, bias)
    layer |= _linear("mlp.dense_h_to_4h", d, f) | _linear("mlp.dense_4h_to_h", f, d)
    shapes = {"embed_in.weight": (c["vocab_size"], d)} | _norm("final_layer_norm", d)
    return shapes | _repeated("layers", c["num_hidden_layers"], layer)


def _llama_like(*norms: str, queries: bool = False) -> Callable[[Mapping], Shapes]:
    """Return the function that computes shapes of a Llama-like model.

    Args:
        norms: Names of a layer's norms; without any, there is no final norm either.
        queries: Whether queries and keys are normalised head by head.
    """

    def shapes(c: Mapping) -> Shapes:
        d, f, heads = c["hidden_size"], c["intermediate_size"], c["num_attention_heads"]
        width, keys = c.get("head_dim", d // heads), c.get("num_key_value_heads", heads)
        bias, mlp = c.get("attention_bias", False), c.get("mlp_bias", False)
        layer = {}
        for name, count in (("q", heads), ("k", keys), ("v", keys)):
            layer |= _linear(f"self_attn.{name}_proj", d, count * width, bias)
        layer |= _linear("self_attn.o_proj", heads * width, d, c.get("output_bias", bias))
        layer |= _linear("mlp.gate_proj", d, f, mlp) | _linear("mlp.up_proj", d, f, mlp)
        layer |= _linear("mlp.down_proj", f, d, mlp)
        for name in norms:
            layer |= _norm(name, d, bias=False)
        if queries:
            layer |= {f"self_attn.{name}_norm.weight": (width,) for name in "qk"}
        end = _norm("norm", d, bias=False) if norms else {}
        return {"embed_tokens.weight": (c["vocab_size"], d)} | _repeated("layers", c["num_hidden_layers"], layer) | end

    return shapes


def _decoder(defaults: Mapping[str, Any], *norms: str, queries: bool = False) -> Parameters:
    """Return the parameters of a Llama-like family."""
    return Parameters("model", _llama_like(*norms, queries=queries), defaults=defaults, head=_DECODER_HEAD)


_NORMS = ("input_layernorm", "post_attention_layernorm")
_SIZES = {"hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072}
_BERT = _SIZES | {"vocab_size": 30522, "max_position_embeddings": 512, "type_vocab_size": 2}
_LLAMA = {"hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "intermediate_size": 11008}
_LLAMA |= {"vocab_size": 32000, "tie_word_embeddings": False}
_PROJECTED_HEAD, _DECODER_HEAD = "classifier.out_proj.weight", "score.weight"
_QWEN = _LLAMA | {"vocab_size": 151936, "intermediate_size": 22016, "num_key_value_heads": 32}

PARAMETERS = {
    "bert": Parameters("bert", _bert, "encoder.layer", defaults=_BERT),
    "roberta": Parameters(
        "roberta",
        _bert,
        "encoder.layer",
        defaults=_BERT | {"vocab_size": 50265, "pad_token_id": 1},
        positions_after_padding=True,
        head=_PROJECTED_HEAD,
    ),
    "electra": Parameters(
        "electra",
        _bert,
        "encoder.layer",
        defaults=_BERT | {"hidden_size": 256, "intermediate_size": 1024, "embedding_size": 128},
        head=_PROJECTED_HEAD,
    ),
    "distilbert": Parameters(
        "distilbert",
        _distilbert,
        "transformer.layer",
        {"hidden_size": "dim", "num_hidden_layers": "n_layers", "num_attention_heads": "n_heads"}
        | {"intermediate_size": "hidden_dim"},
        _BERT | {"num_hidden_layers": 6, "type_vocab_size": None},
    ),
    "albert": Parameters(
        "albert",
        _albert,
        "encoder.albert_layer_groups",
        defaults=_BERT
        | {"vocab_size": 30000, "hidden_size": 4096, "intermediate_size": 16384, "embedding_size": 128}
        | {"num_hidden_groups": 1, "inner_group_num": 1},
        layer_count_key="num_hidden_groups",
    ),
    "deberta-v2": Parameters(
        "deberta",
        _deberta,
        "encoder.layer",
        defaults=_BERT
        | {"vocab_size": 128100, "hidden_size": 1536, "num_hidden_layers": 24, "intermediate_size": 6144}
        | {"type_vocab_size": 0, "position_biased_input": True, "relative_attention": False, "share_att_key": False}
        | {"pos_att_type": "", "max_relative_positions": -1, "position_buckets": -1, "norm_rel_ebd": "none"}
        | {"conv_kernel_size": 0, "conv_groups": 1},
    ),
    "modernbert": Parameters(
        "model",
        _modernbert,
        defaults=_SIZES
        | {"vocab_size": 50368, "num_hidden_layers": 22, "intermediate_size": 1152}
        | {"norm_bias": False, "attention_bias": False, "mlp_bias": False},
    ),
    "gpt2": Parameters(
        "transformer",
        _gpt2,
        "h",
        {"hidden_size": "n_embd", "num_hidden_layers": "n_layer", "num_attention_heads": "n_head"}
        | {"max_position_embeddings": "n_positions"},
        _SIZES | {"vocab_size": 50257, "max_position_embeddings": 1024},
        head=_DECODER_HEAD,
    ),
    "gpt_neox": Parameters(
        "gpt_neox",
        _gpt_neox,
        defaults={"vocab_size": 50432, "hidden_size": 6144, "num_hidden_layers": 44, "intermediate_size": 24576}
        | {"attention_bias": True, "tie_word_embeddings": False},
        head=_DECODER_HEAD,
    ),
    "olmo": _decoder(_LLAMA | {"vocab_size": 50304}),
    "llama": _decoder(_LLAMA, *_NORMS),
    "mistral": _decoder(_LLAMA | {"intermediate_size": 14336, "num_key_value_heads": 8}, *_NORMS),
    "qwen2": _decoder(_QWEN | {"attention_bias": True, "output_bias": False}, *_NORMS),
    "gemma2": _decoder(
        {"vocab_size": 256000, "hidden_size": 2304, "num_hidden_layers": 26, "num_attention_heads": 8}
        | {"intermediate_size": 9216, "num_key_value_heads": 4, "head_dim": 256},
        *_NORMS,
        "pre_feedforward_layernorm",
        "post_feedforward_layernorm",
    ),
    "qwen3": _decoder(_QWEN | {"head_dim": 128}, *_NORMS, queries=True),
}


def get_parameters(model_type: str | None, path: str | Path = "config.json") -> Parameters:
    """Return the parameters of family `model_type`; `path` is the config.json that names it.

    Raises:
        InputError: The family is unknown; the message lists the known ones.
    """
    if model_type not in PARAMETERS:
        raise InputError(
            f"{path}: model_type = {model_type!r} is unknown; choose from {', '.join(PARAMETERS)}. To add a "
            "family, add the paths of its heads and MLPs to src/heuristic_core/models/families.py, and its parameters "
            "to parameters.py there"
        )
    return PARAMETERS[model_type]
