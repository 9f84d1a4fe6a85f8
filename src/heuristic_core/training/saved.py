"""The saved state of an unfinished job, and digests of it and of the files that the job has finished beside it.

What is damaged is not used: a flipped bit would else change results without a word.
"""

import hashlib
import json
import logging
from collections.abc import Iterable
from pathlib import Path

import torch
from torch import Tensor

from heuristic_core.common.atomic import replacing
from heuristic_core.common.hashing import file_digest

LOGGER = logging.getLogger(__name__)


def save_state(path: Path, tensors: dict[str, Tensor], records: dict) -> None:
    """Write one safetensors file.

    records: whatever JSON can hold; under the key `files` the digests of finished files, as :func:`digests` gives them.
    """
    from safetensors.torch import save_file

    tensors = {name: value.detach().cpu().contiguous() for name, value in tensors.items()}
    text = json.dumps(records)
    with replacing(path) as partial:
        save_file(tensors, partial, {"records": text, "sha256": _digest(tensors, text)})


def load_state(path: Path | None) -> tuple[dict[str, Tensor], dict] | None:
    """Tensors and records as they were saved; None where there are none, or where they or a file are damaged."""
    if path is None or not path.is_file():
        return None
    try:
        return _read(path)
    except Exception as fault:  # whatever a parser says of damaged bytes
        LOGGER.warning("%s is damaged (%s): it is not used, the job begins again", path, fault)
        return None


def digests(folder: Path, paths: Iterable[Path] | None) -> dict[str, str]:
    """SHA-256 of finished files, by their names in `folder`."""
    return {path.relative_to(folder).as_posix(): file_digest(path) for path in paths or ()}


def _read(path: Path) -> tuple[dict[str, Tensor], dict]:
    from safetensors import safe_open

    with safe_open(path, "pt") as file:
        tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 (not a dict)
        text, expected = (file.metadata()[key] for key in ("records", "sha256"))
    if _digest(tensors, text) != expected:
        raise ValueError("its content does not have its SHA-256")
    records = json.loads(text)
    for name, digest in records.get("files", {}).items():
        if file_digest(path.parent / name) != digest:
            raise ValueError(f"{name} beside it does not have its SHA-256")
    return tensors, records


def _digest(tensors: dict[str, Tensor], records: str) -> str:
    digest = hashlib.sha256(records.encode())
    for name, value in sorted(tensors.items()):
        digest.update(f"{name} {value.dtype} {tuple(value.shape)} ".encode())
        digest.update(value.reshape(-1).view(torch.uint8).numpy())
    return digest.hexdigest()
