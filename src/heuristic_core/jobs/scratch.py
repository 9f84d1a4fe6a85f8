"""A folder for the unfinished work of a long job, kept only as long as it is about the same work.

It belongs to one process at a time: two that worked on the same results would delete each other's.
"""

import os
import shutil
import socket
from pathlib import Path

from filelock import FileLock, Timeout

from heuristic_core.common.errors import InputError

LOCK, MARK = "lock", "fingerprint"
PATIENCE = 10.0  # seconds that the job of a Snakemake which was just killed may take to end
_held: dict[Path, FileLock] = {}  # of this process: a FileLock that nobody refers to is released


def scratch(folder: str | Path, fingerprint: str) -> Path:
    """The folder, emptied unless what it holds was left by a job of the same `fingerprint`.

    Raises InputError where another process works in it.
    """
    folder = Path(folder)
    _held[folder] = _locked(folder)
    mark = folder / MARK
    if not (mark.is_file() and mark.read_bytes() == fingerprint.encode()):
        for path in folder.iterdir():
            if path.name != LOCK:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        mark.write_bytes(fingerprint.encode())
    return folder


def release(folder: Path) -> None:
    """Let other processes, or a further job of this one, use the folder."""
    _held.pop(folder).release()


def set_aside(folder: Path, name: str) -> Path:
    """Give the unfinished work of a job that must not be repeated as it was another name, in place of an older one."""
    kept = folder.with_name(name)
    shutil.rmtree(kept, ignore_errors=True)
    (folder / LOCK).unlink()
    return folder.rename(kept)


def _locked(folder: Path) -> FileLock:
    """The lock of `folder`, which is made if need be, held by this process until it ends."""
    lock = FileLock(folder / LOCK, PATIENCE, fallback_to_soft=False)
    try:
        lock.acquire()
    except Timeout:
        raise InputError(_taken(folder)) from None
    except FileNotFoundError:  # its holder was done, and deleted the folder in between
        return _locked(folder)
    except OSError:  # a file system without locks
        return lock
    (folder / LOCK).write_text(f"process {os.getpid()} on {socket.gethostname()}\n")
    return lock


def _taken(folder: Path) -> str:
    holder = (folder / LOCK).read_text().strip() or "another process"
    return (
        f"{folder}: {holder} works on the same results, and holds {LOCK} there. Wait until it is done, or end it, then "
        "run the same command"
    )
