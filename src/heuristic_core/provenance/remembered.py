"""Digests of code, remembered from one start of Snakemake to the next, since parsing all modules takes a second."""

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


class Remembered:
    """`code_digest` with the versions in `lock`; its answers stay in `file` until a module of this package changes.

    write: whether what is new goes into the file when this process ends.
    """

    def __init__(self, file: str, lock: str, write: bool):
        self._file, self._lock, self._new = Path(file), Path(lock), False
        code = _sha(sys.version, *_contents(sorted(PACKAGE.rglob("*.py"))))
        known = read(self._file)
        self._known = known if known.get("code") == code else {"code": code}
        if write:
            atexit.register(self._keep)

    def digest(self, *sources: str | Path) -> str:
        """The same as `code_digest(*sources, lock=lock)`."""
        key = _sha(*_contents([self._lock, *sources]))
        if key not in self._known:
            self._known[key] = code_digest(*sources, lock=self._lock)
            self._new = True
        return self._known[key]

    def _keep(self) -> None:
        if self._new:
            with contextlib.suppress(OSError):  # a full disk makes the next start slower and nothing else
                text = json.dumps(self._known)
                write_text(self._file, f"{_sha(text)}\n{text}")


@cache  # the studies of one file share it
def remembered(file: str, lock: str, write: bool) -> Remembered:
    """Return the cache in `file`, the same object for the same arguments."""
    return Remembered(file, lock, write)


def read(file: Path) -> dict[str, str]:
    """What the file remembers; nothing where it is missing or damaged."""
    try:
        check, _, text = file.read_text().partition("\n")
        return json.loads(text) if check == _sha(text) else {}
    except (OSError, ValueError):
        return {}


def _contents(paths: Iterable[str | Path]) -> Iterator[str | bytes]:
    for path in paths:
        yield from (str(path), Path(path).read_bytes())


def _sha(*parts: str | bytes) -> str:
    """One digest of parts, whose limits count."""
    digest = hashlib.sha256()
    for part in parts:
        part = part.encode() if isinstance(part, str) else part
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()
