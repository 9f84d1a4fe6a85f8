"""Code digests cached in a file between starts of Snakemake, since parsing all modules takes a second."""

import atexit
import contextlib
import hashlib
import json
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from heuristic_core.common.atomic import write_text
from heuristic_core.provenance.digests import PACKAGE, code_digest


class DigestCache:
    """A cache of `code_digest`. It is discarded when a module of this package or the Python version changes.

    Args:
        file: Path of the cache.
        lock: Path of the lock file whose versions enter the digests.
        write: Whether to save new digests when this process ends.
    """

    def __init__(self, file: str, lock: str, write: bool):
        self._file, self._lock, self._is_modified = Path(file), Path(lock), False
        code = _sha256(sys.version, *_iter_contents(sorted(PACKAGE.rglob("*.py"))))
        cached = read_digest_cache(self._file)
        self._digests = cached if cached.get("code") == code else {"code": code}
        if write:
            atexit.register(self._save)

    def digest(self, *sources: str | Path) -> str:
        """Return `code_digest(*sources, lock=lock)`, from the cache if possible."""
        key = _sha256(*_iter_contents([self._lock, *sources]))
        if key not in self._digests:
            self._digests[key] = code_digest(*sources, lock=self._lock)
            self._is_modified = True
        return self._digests[key]

    def _save(self) -> None:
        """Write the cache if it has new digests."""
        if self._is_modified:
            with contextlib.suppress(OSError):  # without the file, the next start is slower, but works
                text = json.dumps(self._digests)
                write_text(self._file, f"{_sha256(text)}\n{text}")


@cache  # shared by the studies of one configuration file
def open_digest_cache(file: str, lock: str, write: bool) -> DigestCache:
    """Return the cache in `file`; the same object for the same arguments.

    Args:
        file: Path of the cache.
        lock: Path of the lock file whose versions enter the digests.
        write: Whether to save new digests when this process ends.
    """
    return DigestCache(file, lock, write)


def read_digest_cache(file: Path) -> dict[str, str]:
    """Read a cache: key -> digest; empty if the file is missing or damaged."""
    try:
        checksum, _, text = file.read_text().partition("\n")
        return json.loads(text) if checksum == _sha256(text) else {}
    except (OSError, ValueError):
        return {}


def _iter_contents(paths: Iterable[str | Path]) -> Iterator[str | bytes]:
    """Yield path and content of each file."""
    for path in paths:
        yield from (str(path), Path(path).read_bytes())


def _sha256(*parts: str | bytes) -> str:
    """Return one digest of all parts; their lengths enter it, so that ("ab", "c") and ("a", "bc") differ."""
    digest = hashlib.sha256()
    for part in parts:
        part = part.encode() if isinstance(part, str) else part
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()
