"""Decoders of the Hugging Face hub as parameters of :mod:`.model`: OLMo, Llama, Gemma 2 and Qwen 2.

What their modules compute follows from which parameters are there, so that every measure serves them as it serves the
embedded model. Tests compare the logits with the modules' own.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from heuristic_core.common.errors import InputError
from heuristic_core.experiments.extractive_structures.model import FIXED
from heuristic_core.models.families import Family, family_of
from heuristic_core.models.hugging_face import load_decoder

SUPPORTED = ("olmo", "llama", "gemma2", "qwen2")
ACTIVATED = ("gelu", "silu", "gelu_pytorch_tanh")  # in the order of `ACTIVATIONS`
# Constants, and the keys of config.json that hold them.
CONSTANTS = {"clip": "clip_qkv", "attention_cap": "attn_logit_softcapping", "logit_cap": "final_logit_softcapping"}
# RMSNorms by the names of their gains here; paths in a layer, of Gemma 2 and of the others.
NORMS = {"before_attention": "input_layernorm", "before_mlp": "post_attention_layernorm"}
GEMMA_NORMS = {
    "before_attention": "input_layernorm",
    "after_attention": "post_attention_layernorm",
    "before_mlp": "pre_feedforward_layernorm",
    "after_mlp": "post_feedforward_layernorm",
}


def load_parameters(folder: str | Path) -> dict[str, Tensor]:
    """The parameters of the decoder in a folder, float32. Raises InputError where its family is not supported."""
    return parameters_of(load_decoder(folder, dtype=torch.float32))


@torch.no_grad()
def parameters_of(model: nn.Module) -> dict[str, Tensor]:
    """Parameters and constants of a ``PreTrainedModel`` for causal language modelling, in its dtype."""
    config, of = model.config, model.config.model_type
    if of not in SUPPORTED:
        raise InputError(
            f"config.json: model_type = {of!r} is no decoder of this experiment; there are {', '.join(SUPPORTED)}. To "
            "add one, say in experiments/extractive_structures/decoders.py what it computes"
        )
    family = family_of(of)
    found = {"token": model.get_input_embeddings().weight}
    for number, layer in enumerate(family.layers(model)):
        found |= {f"{number}.{name}": value for name, value in _layer(layer, family, config)}
    if (gain := _gain(model.model.norm, of)) is not None:
        found["before_unembed"] = gain
    if not config.tie_word_embeddings:
        found["unembed"] = model.get_output_embeddings().weight.T
    found |= {f"{FIXED}{name}": torch.as_tensor(value) for name, value in _constants(model)}
    return {name: value.detach().clone().contiguous() for name, value in found.items()}


def _layer(layer: nn.Module, family: Family, config: Any) -> Iterator[tuple[str, Tensor]]:
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
            raise InputError("config.json: biases of the attention's output or of MLPs are not supported here")
    for name, path in (GEMMA_NORMS if config.model_type == "gemma2" else NORMS).items():
        if (gain := _gain(layer.get_submodule(path), config.model_type)) is not None:
            yield name, gain


def _gain(norm: nn.Module, of: str) -> Tensor | None:
    """What an RMSNorm multiplies with; None of OLMo's LayerNorm, which has no weights."""
    weight = getattr(norm, "weight", None)
    return 1 + weight if of == "gemma2" else weight


def _constants(model: nn.Module) -> Iterator[tuple[str, Any]]:
    config, rotary = model.config, model.model.rotary_emb
    yield "rotary", rotary.inv_freq.float()
    yield "rotary_scale", float(rotary.attention_scaling)
    yield "epsilon", torch.tensor(getattr(config, "rms_norm_eps", 1e-5), dtype=torch.float64)
    activation = getattr(config, "hidden_activation", None) or config.hidden_act
    if activation not in ACTIVATED:
        raise InputError(f"config.json: activation {activation!r} is not supported; {', '.join(ACTIVATED)} are")
    yield "activation", ACTIVATED.index(activation)
    yield from ((name, float(value)) for name, key in CONSTANTS.items() if (value := getattr(config, key, None)))
    if config.model_type == "gemma2":
        yield "scale", float(config.hidden_size**0.5)
        yield "attention_scale", float(config.query_pre_attn_scalar**-0.5)
