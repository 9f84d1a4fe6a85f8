"""Check that a folder's weights fit its config.json, from the headers of its safetensors files alone."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from heuristic_core.common.errors import InputError, format_count
from heuristic_core.data.hub import CONFIG_FILE, SHARD_FILES, WEIGHTS_FILE
from heuristic_core.models.parameters import PARAMETERS, Parameters, get_parameters
from heuristic_core.models.weight_files import TensorHeader, read_header, weight_files

OLD_NAMES = {"LayerNorm.gamma": "LayerNorm.weight", "LayerNorm.beta": "LayerNorm.bias"}  # as transformers renames them
BUFFERS = re.compile(
    r"position_ids$|inv_freq$|\.masked_bias$|\.(attn|attention)\.bias$"
)  # in old files, beside weights
SHARDED = "model*.safetensors"
ADAPTER = re.compile(r"\blora_|\.base_layer\.|\bmodules_to_save\.|\boriginal_module\.")  # peft's, inside a model


def check_weights(folder: Path, config: Mapping[str, Any], causal: bool = False) -> None:
    """Check that a folder's files hold every weight of the model that config.json describes, in its shape.

    A classification head and a pooler may be missing.

    Args:
        folder: Folder of the model.
        config: Content of its config.json.
        causal: Whether the model is a decoder that predicts tokens. It needs an output matrix, unless config.json ties
            it to the embedding.

    Raises:
        InputError: If a weight is missing, has another shape or is quantised.
    """
    path = folder / CONFIG_FILE
    family = family_parameters(config, path)
    settings, files = _checked_settings(path, family, config), weight_files(folder)
    stored = {name: tensor for file in files for name, tensor in read_header(file).items()}
    needed = {f"{family.base}.{name}": shape for name, shape in family.shapes(settings).items()}
    if causal and not settings.get("tie_word_embeddings", True):
        needed["lm_head.weight"] = (settings["vocab_size"], settings["hidden_size"])
    source = str(files[0]) if len(files) == 1 else f"the {len(files)} files of {folder / SHARD_FILES[0]}"
    stored = _modernise_names(stored)
    available = {f"{family.base}.{name}": tensor for name, tensor in stored.items()} | stored
    missing = [name for name in needed if name not in available]
    if causal and settings.get("tie_word_embeddings", True) and "lm_head.weight" in available:
        missing = [name for name in missing if name != f"{family.base}.embed_tokens.weight"]
    if missing:
        cause = _explain_missing(folder, missing, stored, family, settings, config["model_type"])
        lacks = "lacks" if len(files) == 1 else "lack"
        raise InputError(f"{source} {lacks} {summarise_weights(missing)} that config.json describes; {cause}")
    if others := _matching_families(stored, settings, config["model_type"]):
        raise InputError(f"{source}: {_family_mismatch(others, config['model_type'])}")
    for name, shape in needed.items():
        tensor = available.get(name)
        if tensor and tensor.shape != shape:
            raise InputError(f"{source}: {_shape_mismatch(name, tensor, shape, settings, path)}")
        if tensor and not tensor.dtype.startswith(("F", "BF")):
            raise InputError(
                f"{source}: {name} is stored as {tensor.dtype}; quantised weights cannot be trained; use "
                "weights in float32, float16 or bfloat16"
            )


def classifier_shape(folder: Path, config: Mapping[str, Any]) -> tuple[int, ...] | None:
    """Return the shape of the last matrix of a folder's classifier.

    Args:
        folder: Folder of the model.
        config: Content of its config.json.

    Returns:
        Shape as stored, usually [classes, width]; None if there is no classifier, or if the family is unknown.

    Raises:
        InputError: If the folder has no safetensors weights, or if a file of them is not valid.
    """
    family = PARAMETERS.get(config.get("model_type"))
    stored = (read_header(file).get(family.head) for file in weight_files(folder)) if family else ()
    return next((tensor.shape for tensor in stored if tensor), None)


def family_parameters(config: Mapping[str, Any], path: str | Path = CONFIG_FILE) -> Parameters:
    """Return names and shapes of the weights of a model's family.

    Args:
        config: Content of config.json.
        path: Path of config.json, for messages.

    Raises:
        InputError: If the family is unknown, or if the weights are quantised.
    """
    family = get_parameters(config.get("model_type"), path)
    if config.get("quantization_config"):
        raise InputError(f"{path}: quantization_config: quantised weights cannot be trained; use the unquantised model")
    return family


def summarise_weights(names: Iterable[str]) -> str:
    """Return the number of weights and the names of the first three."""
    names = list(names)
    listed = ", ".join(names[:3]) + (", …" if len(names) > 3 else "")
    return f"{format_count(len(names), 'weight')} ({listed})"


def _checked_settings(path: Path, family: Parameters, config: Mapping[str, Any]) -> dict[str, Any]:
    settings = family.settings(config)
    for name, default in family.defaults.items():
        positive = name in ("vocab_size", "hidden_size", "num_attention_heads")
        if isinstance(default, int) and not (isinstance(settings[name], int) and (settings[name] > 0 or not positive)):
            kind = "a positive integer" if positive else "an integer"
            raise InputError(f"{path}: {family.aliases.get(name, name)} = {settings[name]!r}: expected {kind}")
    hidden, heads = settings["hidden_size"], settings["num_attention_heads"]
    if "head_dim" not in settings and hidden % heads:
        name = family.aliases.get("num_attention_heads", "num_attention_heads")
        raise InputError(f"{path}: {name} = {heads} does not divide the hidden size {hidden}: copy config.json again")
    return settings


def _modernise_names(stored: Mapping[str, TensorHeader]) -> dict[str, TensorHeader]:
    """Replace old names of LayerNorm's weights."""
    renamed = {}
    for name, tensor in stored.items():
        for old, new in OLD_NAMES.items():
            name = name.replace(old, new)
        renamed[name] = tensor
    return renamed


def _explain_missing(
    folder: Path,
    missing: Sequence[str],
    stored: Mapping[str, TensorHeader],
    family: Parameters,
    settings: Mapping,
    model_type: str,
) -> str:
    """Return the probable reason for missing weights, and a remedy."""
    if others := _matching_families(stored, settings, model_type):
        return _family_mismatch(others, model_type)
    if any(ADAPTER.search(name) for name in stored):
        return (
            "the file also has weights of an adapter: merge them (`merge_and_unload` of peft), and "
            "save the model with `save_pretrained`"
        )
    if prefix := _find_prefix(missing, stored, family.base):
        return (
            f"the names in the file start with {prefix!r}, which wrappers of models add: save the model inside the "
            "wrapper with `save_pretrained`, or rename the weights, in Python:\n"
            "    from pathlib import Path\n"
            "    from safetensors.torch import load_file, save_file\n"
            f"    folder, weights = Path({str(folder)!r}), {{}}\n"
            f"    for path in folder.glob({SHARDED!r}):\n"
            f"        weights |= {{name.removeprefix({prefix!r}): value for name, value in load_file(path).items()}}\n"
            f"    save_file(weights, folder / {WEIGHTS_FILE!r}, {{'format': 'pt'}})"
        )
    layers, name = _count_layers(stored, family), family.aliases.get(family.layer_count_key, family.layer_count_key)
    numbers = [re.match(rf"{re.escape(f'{family.base}.{family.layers}')}\.(\d+)\.", name) for name in missing]
    if layers and all(number and int(number[1]) >= layers for number in numbers):
        configured = settings[family.layer_count_key]
        return f"config.json has {name} = {configured}, but the file has {layers}: set {name} to {layers}"
    consequence = "it would be random" if len(missing) == 1 else "they would be random"
    return (
        f"{consequence}: the file is incomplete, or config.json belongs to another model. Copy the folder again from "
        "where it was saved"
    )


def _find_prefix(missing: Sequence[str], stored: Mapping[str, TensorHeader], base: str) -> str | None:
    """Return the prefix that at least half of the missing names have in the file, or None."""
    prefixes = Counter()
    for name in missing:
        for suffix in (name, name.removeprefix(f"{base}.")):
            candidates = [key[: -len(suffix)] for key in stored if key.endswith(f".{suffix}")]
            if candidates:
                prefixes.update(candidates[:1])
                break
    prefix, count = prefixes.most_common(1)[0] if prefixes else ("", 0)
    return prefix if 2 * count >= len(missing) else None


def _count_layers(stored: Mapping[str, TensorHeader], family: Parameters) -> int:
    """Return the number of layers in the file."""
    pattern = re.compile(rf"(?:{re.escape(family.base)}\.)?{re.escape(family.layers)}\.(\d+)\.")
    return max((int(match[1]) + 1 for name in stored if (match := pattern.match(name))), default=0)


def _matching_families(stored: Mapping[str, TensorHeader], settings: Mapping, model_type: str) -> list[str]:
    """Return families whose first layer has exactly the file's names; empty if `model_type` is among them."""
    names = {name for name in stored if not BUFFERS.search(name)}
    bases = {of: _base_prefix(names, family, settings) for of, family in PARAMETERS.items()}
    if bases[model_type] is not None:
        return []
    return [of for of, base in bases.items() if base] or [of for of, base in bases.items() if base is not None]


def _base_prefix(names: set[str], family: Parameters, settings: Mapping[str, Any]) -> str | None:
    """Return the prefix of a family's names in a file; None if the first layer has other names."""
    for prefix in (f"{family.base}.", ""):
        first = f"{prefix}{family.layers}.0."
        names_of_layer = {name for name in names if name.startswith(first)}
        for values in (settings, {}) if names_of_layer else ():
            shapes = family.shapes(family.settings(values) | {family.layer_count_key: 1})
            if names_of_layer == {prefix + name for name in shapes if f"{prefix}{name}".startswith(first)}:
                return prefix
    return None


def _family_mismatch(others: Sequence[str], model_type: str) -> str:
    return (
        f"the names in the file belong to {' or '.join(others)}, but config.json has model_type = {model_type!r}: "
        "take config.json and weights from the same model"
    )


def _shape_mismatch(
    name: str, tensor: TensorHeader, shape: tuple[int, ...], settings: Mapping[str, Any], path: Path
) -> str:
    sizes = {n for n, m in zip(shape, tensor.shape, strict=False) if n != m}
    names = [f"{key} = {value}" for key, value in settings.items() if type(value) is int and value in sizes]
    causes = f" ({', '.join(names)})" if names else ""
    return (
        f"{name} has shape {list(tensor.shape)}, but {path} gives {list(shape)}{causes}: take config.json and "
        "weights from the same model"
    )
