"""Folders for the unfinished work of long jobs. Work of other code, inputs or settings is deleted.

A folder belongs to one process at a time, so that two jobs cannot overwrite each other's work.
"""

import os
import shutil
import socket
from pathlib import Path

from filelock import FileLock, Timeout

from heuristic_core.common.errors import InputError

LOCK, FINGERPRINT = "lock", "fingerprint"  # file names
LOCK_TIMEOUT = 10.0  # seconds that a job may take to end after its Snakemake was killed
_locks: dict[Path, FileLock] = {}  # locks of this process: a FileLock without references is released


def open_scratch(folder: str | Path, fingerprint: str) -> Path:
    """Open a folder for unfinished work, and delete its content if that has another fingerprint.

    Args:
        folder: Path of the folder, which is made if necessary.
        fingerprint: Text that identifies code, inputs and settings of the job.

    Raises:
        InputError: If another process uses the folder.
    """
    folder = Path(folder)
    _locks[folder] = _acquire_lock(folder)
    file = folder / FINGERPRINT
    if not (file.is_file() and file.read_bytes() == fingerprint.encode()):
        for path in folder.iterdir():
            if path.name != LOCK:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        file.write_bytes(fingerprint.encode())
    return folder


def release(folder: Path) -> None:
    """Release a folder for other processes, or for another job of this process."""
    _locks.pop(folder).release()


def set_aside(folder: Path, name: str) -> Path:
    """Rename a folder whose work must not be resumed, and return its new path.

    Args:
        folder: The folder, with its lock.
        name: New name. An older folder of that name is deleted.
    """
    target = folder.with_name(name)
    shutil.rmtree(target, ignore_errors=True)
    (folder / LOCK).unlink()
    return folder.rename(target)


def _acquire_lock(folder: Path) -> FileLock:
    """Make a folder and lock it for this process.

    Raises:
        InputError: If another process holds the lock.
    """
    lock = FileLock(folder / LOCK, LOCK_TIMEOUT, fallback_to_soft=False)
    try:
        lock.acquire()
    except Timeout:
        raise InputError(_lock_message(folder)) from None
    except FileNotFoundError:  # the former holder deleted the folder in the meantime
        return _acquire_lock(folder)
    except OSError:  # a file system without locks
        return lock
    (folder / LOCK).write_text(f"process {os.getpid()} on {socket.gethostname()}\n")
    return lock


def _lock_message(folder: Path) -> str:
    """Return who holds the lock of a folder, and what to do."""
    holder = (folder / LOCK).read_text().strip() or "another process"
    return (
        f"{folder}: {holder} is writing the same results (lock file {LOCK}). Wait for it to finish, or stop it, then "
        "run the same command"
    )
