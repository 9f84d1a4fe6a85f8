"""Write files atomically: a path never holds a partly written file."""

import contextlib
import glob
import os
import platform
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

HOST = platform.node().split(".")[0] or "localhost"
STALE_SECONDS = 3600  # seconds without a write after which another machine's temporary file counts as abandoned


@contextlib.contextmanager
def replace_atomically(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`; on success it is renamed to `path`, on failure removed."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    _remove_stale(path)
    partial = path.with_name(f".{path.name}.{HOST}-{os.getpid()}.partial{path.suffix}")
    try:
        yield partial
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def find_write_error(folder: str | Path, size: int) -> str | None:
    """Return the operating system's error if a folder cannot be written to.

    Args:
        folder: The folder; if it does not exist, its nearest existing parent is tried.
        size: Number of bytes to write.

    Returns:
        Text of the error; None if there is none.
    """
    folder = Path(folder).absolute()
    existing = next(path for path in (folder, *folder.parents) if path.is_dir())
    try:
        with tempfile.TemporaryFile(dir=existing) as file:
            file.write(bytes(size))
    except OSError as error:
        return error.strerror
    return None


def _remove_stale(path: Path) -> None:
    """Remove temporary files of `path` whose writers were killed."""
    for partial in path.parent.glob(f".{glob.escape(path.name)}.*.partial{glob.escape(path.suffix)}"):
        writer = partial.name.removesuffix(f".partial{path.suffix}").rpartition(".")[2]
        host, _, process = writer.rpartition("-")
        with contextlib.suppress(FileNotFoundError):  # another process has removed it
            if host == HOST and process.isdigit():
                is_stale = not _is_running(int(process))
            else:
                is_stale = time.time() - partial.stat().st_mtime > STALE_SECONDS
            if is_stale:
                partial.unlink()


def _is_running(process: int) -> bool:
    """Return whether a process of this machine exists."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # a process of another user
        pass
    return True


def write_text(path: str | Path, text: str) -> None:
    """Write a text file atomically.

    Args:
        path: Path of the file.
        text: Its content, written in UTF-8.
    """
    with replace_atomically(path) as partial:
        partial.write_text(text, encoding="utf-8")


def write_bytes(path: str | Path, content: bytes) -> None:
    """Write a file atomically. Also for safetensors: `save_file` leaves a temporary file when killed.

    Args:
        path: Path of the file.
        content: Its content.
    """
    with replace_atomically(path) as partial:
        partial.write_bytes(content)
