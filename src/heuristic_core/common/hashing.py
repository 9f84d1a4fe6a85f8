"""The SHA-256 of files."""

import hashlib
from pathlib import Path


def file_digest(path: str | Path) -> str:
    """SHA-256 of a file's bytes."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
