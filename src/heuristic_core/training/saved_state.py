"""The saved state of an unfinished job, protected by digests of itself and of the job's finished files.

Damaged states are discarded: a flipped bit would otherwise change results silently.
"""

import hashlib
import json
import logging
from collections.abc import Iterable
from pathlib import Path

import torch
from torch import Tensor

from heuristic_core.common.atomic import replace_atomically
from heuristic_core.common.hashing import file_digest

LOGGER = logging.getLogger(__name__)


def save_state(path: Path, tensors: dict[str, Tensor], records: dict) -> None:
    """Write a state to one safetensors file.

    Args:
        path: The file.
        tensors: By name.
        records: JSON values; key `files` holds the :func:`digests` of finished files.
    """
    from safetensors.torch import save_file

    tensors = {name: value.detach().cpu().contiguous() for name, value in tensors.items()}
    text = json.dumps(records)
    with replace_atomically(path) as partial:
        save_file(tensors, partial, {"records": text, "sha256": _digest(tensors, text)})


def load_state(path: Path | None) -> tuple[dict[str, Tensor], dict] | None:
    """Read the tensors and records of a state; None if it is missing, or if it or a finished file is damaged."""
    if path is None or not path.is_file():
        return None
    try:
        return _read(path)
    except Exception as error:  # parsers raise errors of many types on damaged bytes
        LOGGER.warning("%s is damaged (%s): ignored, the job starts again", path, error)
        return None


def digests(folder: Path, paths: Iterable[Path] | None) -> dict[str, str]:
    """Return the SHA-256 of finished files by relative path.

    Args:
        folder: Folder that paths are relative to.
        paths: Files in it; None for none.
    """
    return {path.relative_to(folder).as_posix(): file_digest(path) for path in paths or ()}


def _read(path: Path) -> tuple[dict[str, Tensor], dict]:
    from safetensors import safe_open

    with safe_open(path, "pt") as file:
        tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 (not a dict)
        text, expected = (file.metadata()[key] for key in ("records", "sha256"))
    if _digest(tensors, text) != expected:
        raise ValueError("its SHA-256 differs from the recorded one")
    records = json.loads(text)
    for name, digest in records.get("files", {}).items():
        if file_digest(path.parent / name) != digest:
            raise ValueError(f"the SHA-256 of {name} differs from the recorded one")
    return tensors, records


def _digest(tensors: dict[str, Tensor], records: str) -> str:
    digest = hashlib.sha256(records.encode())
    for name, value in sorted(tensors.items()):
        digest.update(f"{name} {value.dtype} {tuple(value.shape)} ".encode())
        digest.update(value.reshape(-1).view(torch.uint8).numpy())
    return digest.hexdigest()
