"""SHA-256 of files."""

import hashlib
from pathlib import Path


def file_digest(path: str | Path) -> str:
    """Return the SHA-256 of a file as hexadecimal digits."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
