"""Whether a folder's weights are those of its config.json, from the headers of its safetensors files alone."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from heuristic_core.common.errors import InputError, counted
from heuristic_core.models.parameters import PARAMETERS, Parameters, parameters_of
from heuristic_core.sources.hub import CONFIG, SHARDS, WEIGHTS

OLD_NAMES = {"LayerNorm.gamma": "LayerNorm.weight", "LayerNorm.beta": "LayerNorm.bias"}  # as transformers renames them
BUFFERS = re.compile(r"position_ids$|inv_freq$|\.masked_bias$|\.(attn|attention)\.bias$")  # that old files hold besides
ADAPTED = re.compile(r"\blora_|\.base_layer\.|\bmodules_to_save\.|\boriginal_module\.")  # peft's, inside a model
SHARDED = "model*.safetensors"
PICKLED = ("pytorch_model*.bin", "*.pt", "*.pth", "*.ckpt")
OTHER_FRAMEWORKS = ("tf_model*.h5", "flax_model*.msgpack", "*.gguf", "*.onnx")


class Stored(NamedTuple):
    """A tensor of a safetensors file, as its header describes it."""

    dtype: str
    shape: tuple[int, ...]


def read_object(path: Path) -> dict:
    """The object of a JSON file. Raises InputError where it cannot be read or holds something else."""
    try:
        return _object(path, path.read_bytes())
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error}") from None


def weight_files(folder: Path) -> list[Path]:
    """The files that a model's weights are read from. Raises InputError where one is missing."""
    if (folder / WEIGHTS).is_file():
        return [folder / WEIGHTS]
    index = folder / SHARDS[0]
    if not index.is_file():
        raise InputError(f"{folder}: there is no {WEIGHTS} in it; {_instead(folder)}")
    names = read_object(index).get("weight_map")
    if not isinstance(names, dict) or not names or not all(isinstance(name, str) for name in names.values()):
        raise InputError(f"{index}: expected `weight_map`, an object with a file for every weight")
    shards = [folder / name for name in sorted(set(names.values()))]
    if missing := [path.name for path in shards if not path.is_file()]:
        raise InputError(f"{index} names {', '.join(missing)}, which {'is' if len(missing) == 1 else 'are'} not there")
    return shards


def check_weights(folder: Path, config: Mapping[str, Any], causal: bool = False) -> None:
    """Raise InputError where a weight that the model of `config` needs is not in the folder's files as it needs it.

    A classification head and a pooler may be missing. causal: the model is a decoder that predicts tokens, and needs
    the matrix that does it.
    """
    path = folder / CONFIG
    family = family_parameters(config, path)
    settings, files = _settings(path, family, config), weight_files(folder)
    stored = {name: tensor for file in files for name, tensor in _header(file).items()}
    needed = {f"{family.base}.{name}": shape for name, shape in family.shapes(settings).items()}
    if causal and not settings.get("tie_word_embeddings", True):
        needed["lm_head.weight"] = (settings["vocab_size"], settings["hidden_size"])
    of = str(files[0]) if len(files) == 1 else f"the {len(files)} files of {folder / SHARDS[0]}"
    stored = _renamed(stored)
    read = {f"{family.base}.{name}": tensor for name, tensor in stored.items()} | stored
    missing = [name for name in needed if name not in read]
    if causal and settings.get("tie_word_embeddings", True) and "lm_head.weight" in read:
        missing = [name for name in missing if name != f"{family.base}.embed_tokens.weight"]
    if missing:
        cause = _cause(folder, missing, stored, family, settings, config["model_type"])
        lacks = "lacks" if len(files) == 1 else "lack"
        raise InputError(f"{of} {lacks} {some_of(missing)} that config.json asks for; {cause}")
    if others := _families_of(stored, settings, config["model_type"]):
        raise InputError(f"{of}: {_other_family(others, config['model_type'])}")
    for name, shape in needed.items():
        tensor = read.get(name)
        if tensor and tensor.shape != shape:
            raise InputError(f"{of}: {_other_shape(name, tensor, shape, settings, path)}")
        if tensor and not tensor.dtype.startswith(("F", "BF")):
            raise InputError(
                f"{of}: {name} is stored as {tensor.dtype}; quantised weights cannot be trained, give the model's "
                "weights in float32, float16 or bfloat16"
            )


def classifier_shape(folder: Path, config: Mapping[str, Any]) -> tuple[int, ...] | None:
    """The shape of the last matrix of a folder's classifier; None where it has no classifier, or no known family."""
    family = PARAMETERS.get(config.get("model_type"))
    stored = (_header(file).get(family.head) for file in weight_files(folder)) if family else ()
    return next((tensor.shape for tensor in stored if tensor), None)


def family_parameters(config: Mapping[str, Any], path: str | Path = CONFIG) -> Parameters:
    """The parameters of a config.json's family. Raises InputError where that is not known, or weights are quantised."""
    family = parameters_of(config.get("model_type"), path)
    if config.get("quantization_config"):
        raise InputError(f"{path}: quantization_config: quantised weights cannot be trained; give the model without")
    return family


def some_of(names: Iterable[str]) -> str:
    """How many weights there are, and the names of a few of them."""
    names = list(names)
    shown = ", ".join(names[:3]) + (", …" if len(names) > 3 else "")
    return f"{counted(len(names), 'weight')} ({shown})"


def _settings(path: Path, family: Parameters, config: Mapping[str, Any]) -> dict[str, Any]:
    settings = family.settings(config)
    for name, default in family.defaults.items():
        positive = name in ("vocab_size", "hidden_size", "num_attention_heads")
        if isinstance(default, int) and not (isinstance(settings[name], int) and (settings[name] > 0 or not positive)):
            kind = "a positive integer" if positive else "an integer"
            raise InputError(f"{path}: {family.aliases.get(name, name)} = {settings[name]!r}: expected {kind}")
    hidden, heads = settings["hidden_size"], settings["num_attention_heads"]
    if "head_dim" not in settings and hidden % heads:
        name = family.aliases.get("num_attention_heads", "num_attention_heads")
        raise InputError(f"{path}: {name} = {heads} does not divide the hidden size, {hidden}: copy config.json again")
    return settings


def _header(file: Path) -> dict[str, Stored]:
    """The tensors of a safetensors file. Raises InputError where it is none, or is cut off."""
    with file.open("rb") as opened:
        begins = opened.read(8)
        if begins.startswith(b"version "):
            raise InputError(f"{file} is a pointer of Git LFS and not the weights: `git lfs pull` fetches them")
        size, length = file.stat().st_size, int.from_bytes(begins, "little")
        if size < 8 or length > size - 8:
            raise InputError(f"{file} is no safetensors file, or is cut off: copy or download it again")
        values = _object(file, opened.read(length))
    values.pop("__metadata__", None)
    try:
        ends = max((value["data_offsets"][1] for value in values.values()), default=0)
        tensors = {name: Stored(value["dtype"], tuple(value["shape"])) for name, value in values.items()}
    except (KeyError, TypeError, IndexError):
        raise InputError(f"{file}: its header is not that of a safetensors file") from None
    if 8 + length + ends != size:
        raise InputError(
            f"{file} has {size} bytes where its header says {8 + length + ends}: copy or download it again"
        )
    return tensors


def _object(path: Path, text: bytes) -> dict:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise InputError(f"{path} cannot be read: {error}") from None
    if not isinstance(value, dict):
        raise InputError(f"{path}: expected a JSON object, found {type(value).__name__}")
    return value


def _renamed(stored: Mapping[str, Stored]) -> dict[str, Stored]:
    """Tensors with old names of LayerNorm's weights replaced."""
    renamed = {}
    for name, tensor in stored.items():
        for old, new in OLD_NAMES.items():
            name = name.replace(old, new)
        renamed[name] = tensor
    return renamed


def _cause(
    folder: Path,
    missing: Sequence[str],
    stored: Mapping[str, Stored],
    family: Parameters,
    settings: Mapping,
    model_type: str,
) -> str:
    """Why weights are probably missing, and what to do."""
    if others := _families_of(stored, settings, model_type):
        return _other_family(others, model_type)
    if any(ADAPTED.search(name) for name in stored):
        return (
            "the file has weights of an adapter beside the model's own: merge them (`merge_and_unload` of peft), and "
            "save the model with `save_pretrained`"
        )
    if prefix := _prefix(missing, stored, family.base):
        return (
            f"the names in the file begin with {prefix!r}, as wrappers of models leave them: save the model inside the "
            "wrapper with `save_pretrained`, or rename the weights, in Python:\n"
            "    from pathlib import Path\n"
            "    from safetensors.torch import load_file, save_file\n"
            f"    folder, weights = Path({str(folder)!r}), {{}}\n"
            f"    for path in folder.glob({SHARDED!r}):\n"
            f"        weights |= {{name.removeprefix({prefix!r}): own for name, own in load_file(path).items()}}\n"
            f"    save_file(weights, folder / {WEIGHTS!r}, {{'format': 'pt'}})"
        )
    layers, name = _layers(stored, family), family.aliases.get(family.count, family.count)
    numbers = [re.match(rf"{re.escape(f'{family.base}.{family.layers}')}\.(\d+)\.", name) for name in missing]
    if layers and all(number and int(number[1]) >= layers for number in numbers):
        return f"config.json has {name} = {settings[family.count]}, and the file {layers}: set {name} to {layers}"
    would = "it would be random" if len(missing) == 1 else "they would be random"
    return (
        f"{would}: the file was not written whole, or config.json is another model's. Copy the folder again from where "
        "it was saved"
    )


def _prefix(missing: Sequence[str], stored: Mapping[str, Stored], base: str) -> str | None:
    """What at least half of the missing names have before them in the file; None where they have nothing."""
    before = Counter()
    for name in missing:
        for wanted in (name, name.removeprefix(f"{base}.")):
            ends = [key[: -len(wanted)] for key in stored if key.endswith(f".{wanted}")]
            if ends:
                before.update(ends[:1])
                break
    prefix, count = before.most_common(1)[0] if before else ("", 0)
    return prefix if 2 * count >= len(missing) else None


def _layers(stored: Mapping[str, Stored], family: Parameters) -> int:
    """How many layers the file has."""
    pattern = re.compile(rf"(?:{re.escape(family.base)}\.)?{re.escape(family.layers)}\.(\d+)\.")
    return max((int(found[1]) + 1 for name in stored if (found := pattern.match(name))), default=0)


def _families_of(stored: Mapping[str, Stored], settings: Mapping, model_type: str) -> list[str]:
    """Families whose first layer has exactly the file's names; none where `model_type` is one of them."""
    names = {name for name in stored if not BUFFERS.search(name)}
    bases = {of: _base(names, family, settings) for of, family in PARAMETERS.items()}
    if bases[model_type] is not None:
        return []
    return [of for of, base in bases.items() if base] or [of for of, base in bases.items() if base is not None]


def _base(names: set[str], family: Parameters, settings: Mapping[str, Any]) -> str | None:
    """What a family's first layer has before its names in a file; None where the file has other names."""
    for prefix in (f"{family.base}.", ""):
        first = f"{prefix}{family.layers}.0."
        held = {name for name in names if name.startswith(first)}
        for values in (settings, {}) if held else ():
            shapes = family.shapes(family.settings(values) | {family.count: 1})
            if held == {prefix + name for name in shapes if f"{prefix}{name}".startswith(first)}:
                return prefix
    return None


def _other_family(others: Sequence[str], model_type: str) -> str:
    return (
        f"the names in the file are those of {' or '.join(others)}, and config.json has model_type = {model_type!r}: "
        "take config.json and weights from the same model"
    )


def _other_shape(name: str, tensor: Stored, shape: tuple[int, ...], settings: Mapping[str, Any], path: Path) -> str:
    asked = {n for n, m in zip(shape, tensor.shape, strict=False) if n != m}
    names = [f"{key} = {value}" for key, value in settings.items() if type(value) is int and value in asked]
    which = f" ({', '.join(names)})" if names else ""
    return (
        f"{name} has shape {list(tensor.shape)}, where {path} asks for {list(shape)}{which}: take config.json and "
        "weights from the same model"
    )


def _instead(folder: Path) -> str:
    """What a folder without weights in safetensors has, and the way to them."""
    first = {
        kind: next((path.name for pattern in patterns for path in sorted(folder.glob(pattern))), None)
        for kind, patterns in {"pickled": PICKLED, "other": OTHER_FRAMEWORKS, "adapter": ("adapter_model.*",)}.items()
    }
    if first["adapter"]:
        return f"{first['adapter']} is an adapter: merge it into its model (`merge_and_unload` of peft) and save that"
    if first["pickled"]:
        return _conversion(folder, first["pickled"])
    if first["other"]:
        return (
            f"{first['other']} is not read. Take {WEIGHTS} from the model's page on the Hugging Face hub, or convert "
            "it with transformers 4 (`from_pretrained` with from_tf=True or from_flax=True, then `save_pretrained`)"
        )
    return "save the model into it with `save_pretrained`, or copy its weights there as well"


def _conversion(folder: Path, name: str) -> str:
    try:
        architecture = next(iter(read_object(folder / CONFIG).get("architectures") or []), "AutoModel")
    except InputError:
        architecture = "AutoModel"
    if not name.startswith("pytorch_model"):
        return f"{name} is not read, as it may hold code: load it where it was made, and save with `save_pretrained`"
    return (
        f"{name} is not read, as a pickle can run code. Take {WEIGHTS} from the model's page on the Hugging Face hub, "
        f"or convert it once, in Python:\n    from transformers import {architecture}\n"
        f"    model = {architecture}.from_pretrained({str(folder)!r})\n"
        f"    model.save_pretrained({str(folder)!r})"
    )
