"""Convert decoders of the Hugging Face hub to parameters of :mod:`.model`: OLMo, Llama, Gemma 2 and Qwen 2.

Which parameters exist determines what the model computes, so that every measure applies to these decoders as to the
embedded model. Tests compare the logits with those of transformers.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from heuristic_core.common.errors import InputError
from heuristic_core.experiments.extractive_structures.parameters import CONSTANT_PREFIX
from heuristic_core.models.families import Family, get_family
from heuristic_core.models.hugging_face import load_decoder

SUPPORTED_FAMILIES = ("olmo", "llama", "gemma2", "qwen2")
ACTIVATION_NAMES = ("gelu", "silu", "gelu_pytorch_tanh")  # in the order of `ACTIVATIONS`
# Constants -> their keys in config.json.
CONSTANTS = {"clip": "clip_qkv", "attention_cap": "attn_logit_softcapping", "logit_cap": "final_logit_softcapping"}
# Name of an RMSNorm's gain -> path of the norm in a layer; Gemma 2 has more norms than the other families.
NORMS = {"before_attention": "input_layernorm", "before_mlp": "post_attention_layernorm"}
GEMMA_NORMS = {
    "before_attention": "input_layernorm",
    "after_attention": "post_attention_layernorm",
    "before_mlp": "pre_feedforward_layernorm",
    "after_mlp": "post_feedforward_layernorm",
}


def load_parameters(folder: str | Path) -> dict[str, Tensor]:
    """Load the parameters of the decoder in a folder as float32.

    Raises:
        InputError: If its family is not supported.
    """
    return convert_parameters(load_decoder(folder, dtype=torch.float32))


@torch.no_grad()
def convert_parameters(model: nn.Module) -> dict[str, Tensor]:
    """Return the parameters and constants of a ``PreTrainedModel`` for causal language modelling, in its dtype.

    Raises:
        InputError: If the model's family, activation or biases are not supported.
    """
    config, model_type = model.config, model.config.model_type
    if model_type not in SUPPORTED_FAMILIES:
        raise InputError(
            f"config.json: model_type = {model_type!r} is not supported; choose from {', '.join(SUPPORTED_FAMILIES)}, "
            "or add the family in experiments/extractive_structures/decoders.py"
        )
    family = get_family(model_type)
    parameters = {"token": model.get_input_embeddings().weight}
    for number, layer in enumerate(family.layers(model)):
        parameters |= {f"{number}.{name}": value for name, value in _iterate_layer(layer, family, config)}
    if (gain := _read_gain(model.model.norm, model_type)) is not None:
        parameters["before_unembed"] = gain
    if not config.tie_word_embeddings:
        parameters["unembed"] = model.get_output_embeddings().weight.T
    parameters |= {f"{CONSTANT_PREFIX}{name}": torch.as_tensor(value) for name, value in _iterate_constants(model)}
    return {name: value.detach().clone().contiguous() for name, value in parameters.items()}


def _iterate_layer(layer: nn.Module, family: Family, config: Any) -> Iterator[tuple[str, Tensor]]:
    """Yield the names and values of a layer's parameters."""
    width = layer.self_attn.head_dim
    for name, path in zip(("query", "key", "value"), family.projections, strict=True):
        linear = layer.get_submodule(path)
        yield name, linear.weight.T.unflatten(1, (-1, width))
        if linear.bias is not None:
            yield f"{name}_bias", linear.bias.unflatten(0, (-1, width))
    output, down = layer.get_submodule(family.output), layer.get_submodule(family.down)
    yield "output", output.weight.T.unflatten(0, (-1, width))
    gate, up = map(layer.get_submodule, family.up)
    yield from (("gate", gate.weight.T), ("up", up.weight.T), ("down", down.weight.T))
    for linear in (output, gate, up, down):
        if linear.bias is not None:
            raise InputError("config.json: biases of the attention's output or of MLPs are not supported")
    for name, path in (GEMMA_NORMS if config.model_type == "gemma2" else NORMS).items():
        if (gain := _read_gain(layer.get_submodule(path), config.model_type)) is not None:
            yield name, gain


def _read_gain(norm: nn.Module, model_type: str) -> Tensor | None:
    """Return the gain of an RMSNorm; None for OLMo's LayerNorm, which has no weights."""
    weight = getattr(norm, "weight", None)
    return 1 + weight if model_type == "gemma2" else weight


def _iterate_constants(model: nn.Module) -> Iterator[tuple[str, Any]]:
    """Yield the names, without prefix, and values of a model's constants."""
    config, rotary = model.config, model.model.rotary_emb
    yield "rotary", rotary.inv_freq.float()
    yield "rotary_scale", float(rotary.attention_scaling)
    yield "epsilon", torch.tensor(getattr(config, "rms_norm_eps", 1e-5), dtype=torch.float64)
    activation = getattr(config, "hidden_activation", None) or config.hidden_act
    if activation not in ACTIVATION_NAMES:
        raise InputError(
            f"config.json: activation {activation!r} is not supported; choose from {', '.join(ACTIVATION_NAMES)}"
        )
    yield "activation", ACTIVATION_NAMES.index(activation)
    yield from ((name, float(value)) for name, key in CONSTANTS.items() if (value := getattr(config, key, None)))
    if config.model_type == "gemma2":
        yield "scale", float(config.hidden_size**0.5)
        yield "attention_scale", float(config.query_pre_attn_scalar**-0.5)
