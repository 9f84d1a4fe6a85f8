"""A folder for the unfinished work of a long job, kept only as long as it is about the same work.

It belongs to one process at a time: two that worked on the same results would delete each other's.
"""

import contextlib
import fcntl
import os
import shutil
import socket
import time
from pathlib import Path
from typing import TextIO

from heuristic_core.common.errors import InputError

LOCK, MARK = "lock", "fingerprint"
PATIENCE = 10.0  # seconds that the job of a Snakemake which was just killed may take to end
_held: list[TextIO] = []  # locks of this process, which hold as long as their files are open


def scratch(folder: str | Path, fingerprint: str) -> Path:
    """The folder, emptied unless what it holds was left by a job of the same `fingerprint`.

    Raises InputError where another process works in it.
    """
    folder = Path(folder)
    _held.append(_locked(folder))
    mark = folder / MARK
    if not (mark.is_file() and mark.read_bytes() == fingerprint.encode()):
        for path in folder.iterdir():
            if path.name != LOCK:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        mark.write_bytes(fingerprint.encode())
    return folder


def set_aside(folder: Path, name: str) -> Path:
    """Give the unfinished work of a job that must not be repeated as it was another name, in place of an older one."""
    kept = folder.with_name(name)
    shutil.rmtree(kept, ignore_errors=True)
    (folder / LOCK).unlink()
    return folder.rename(kept)


def _locked(folder: Path) -> TextIO:
    """The lock of `folder`, which is made if need be, held by this process until it ends."""
    until = time.monotonic() + PATIENCE
    while True:
        folder.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):  # its holder was done, and deleted the folder in between
            file = open(folder / LOCK, "a+")  # noqa: SIM115 (it stays open)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > until:
                    raise InputError(_taken(folder, file)) from None
                time.sleep(0.1)
                continue
            except OSError:  # a file system without locks
                return file
            if os.path.samestat(os.fstat(file.fileno()), os.stat(folder / LOCK)):
                file.truncate(0)
                file.write(f"process {os.getpid()} on {socket.gethostname()}\n")
                file.flush()
                return file


def _taken(folder: Path, file: TextIO) -> str:
    file.seek(0)
    holder = file.read().strip() or "another process"
    return (
        f"{folder}: {holder} works on the same results, and holds {LOCK} there. Wait until it is done, or end it, then "
        "run the same command"
    )
