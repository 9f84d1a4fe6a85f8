"""Find the files of a model's weights and read the headers of safetensors files."""

import json
from pathlib import Path
from typing import NamedTuple

from heuristic_core.common.errors import InputError
from heuristic_core.data.hub import CONFIG_FILE, SHARD_FILES, WEIGHTS_FILE

PICKLED = ("pytorch_model*.bin", "*.pt", "*.pth", "*.ckpt")
OTHER_FRAMEWORKS = ("tf_model*.h5", "flax_model*.msgpack", "*.gguf", "*.onnx")


class TensorHeader(NamedTuple):
    """Type and shape of a tensor, from the header of a safetensors file."""

    dtype: str
    shape: tuple[int, ...]


def read_object(path: Path) -> dict:
    """Read the object in a JSON file; raise InputError if it cannot be read or holds something else."""
    try:
        return _parse_object(path, path.read_bytes())
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error}") from None


def weight_files(folder: Path) -> list[Path]:
    """Return the files that a model's weights are read from; raise InputError if one is missing."""
    if (folder / WEIGHTS_FILE).is_file():
        return [folder / WEIGHTS_FILE]
    index = folder / SHARD_FILES[0]
    if not index.is_file():
        raise InputError(f"{folder}: {WEIGHTS_FILE} is missing; {_advise_conversion(folder)}")
    names = read_object(index).get("weight_map")
    if not isinstance(names, dict) or not names or not all(isinstance(name, str) for name in names.values()):
        raise InputError(f"{index}: expected `weight_map`, an object with a file for every weight")
    shards = [folder / name for name in sorted(set(names.values()))]
    if missing := [path.name for path in shards if not path.is_file()]:
        raise InputError(f"{index} lists {', '.join(missing)}, which {'is' if len(missing) == 1 else 'are'} missing")
    return shards


def read_header(file: Path) -> dict[str, TensorHeader]:
    """Read the header of a safetensors file; raise InputError if it is something else or truncated."""
    with file.open("rb") as stream:
        prefix = stream.read(8)
        if prefix.startswith(b"version "):
            raise InputError(f"{file} is a Git LFS pointer instead of the weights: run `git lfs pull`")
        size, length = file.stat().st_size, int.from_bytes(prefix, "little")
        if size < 8 or length > size - 8:
            raise InputError(f"{file} is not a safetensors file, or is truncated: copy or download it again")
        values = _parse_object(file, stream.read(length))
    values.pop("__metadata__", None)
    try:
        data_size = max((value["data_offsets"][1] for value in values.values()), default=0)
        tensors = {name: TensorHeader(value["dtype"], tuple(value["shape"])) for name, value in values.items()}
    except (KeyError, TypeError, IndexError):
        raise InputError(f"{file}: invalid safetensors header") from None
    if 8 + length + data_size != size:
        raise InputError(
            f"{file} has {size} bytes, but its header says {8 + length + data_size}: copy or download it again"
        )
    return tensors


def _parse_object(path: Path, text: bytes) -> dict:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise InputError(f"{path} cannot be read: {error}") from None
    if not isinstance(value, dict):
        raise InputError(f"{path}: expected a JSON object, found {type(value).__name__}")
    return value


def _advise_conversion(folder: Path) -> str:
    """Return what a folder without safetensors weights has instead, and how to convert it."""
    first = {
        kind: next((path.name for pattern in patterns for path in sorted(folder.glob(pattern))), None)
        for kind, patterns in {"pickled": PICKLED, "other": OTHER_FRAMEWORKS, "adapter": ("adapter_model.*",)}.items()
    }
    if first["adapter"]:
        return f"{first['adapter']} is an adapter: merge it into its model (`merge_and_unload` of peft) and save that"
    if first["pickled"]:
        return _explain_conversion(folder, first["pickled"])
    if first["other"]:
        return (
            f"{first['other']} is not read. Take {WEIGHTS_FILE} from the model's page on the Hugging Face hub, or "
            "convert it with transformers 4 (`from_pretrained` with from_tf or from_flax, then `save_pretrained`)"
        )
    return "save the model into it with `save_pretrained`, or copy its weights into it"


def _explain_conversion(folder: Path, name: str) -> str:
    try:
        architecture = next(iter(read_object(folder / CONFIG_FILE).get("architectures") or []), "AutoModel")
    except InputError:
        architecture = "AutoModel"
    if not name.startswith("pytorch_model"):
        return f"{name} is not read, as it can run code: load it where it was made, and save it with `save_pretrained`"
    return (
        f"{name} is not read, as pickles can run code. Take {WEIGHTS_FILE} from the model's page on the Hugging "
        f"Face hub, or convert it once, in Python:\n    from transformers import {architecture}\n"
        f"    model = {architecture}.from_pretrained({str(folder)!r})\n"
        f"    model.save_pretrained({str(folder)!r})"
    )
