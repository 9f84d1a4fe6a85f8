"""What else there may be in a working folder: another run, and results that were copied there."""

import os
import socket
import time
from collections.abc import Callable
from datetime import datetime
from functools import cache
from pathlib import Path

from filelock import FileLock, Timeout

from heuristic_core.common.atomic import write_text
from heuristic_core.common.errors import InputError
from heuristic_core.provenance.record import read_record, record_of

RUNNING = Path(".snakemake/heuristic-core/running")
LOCKS = Path(".snakemake/locks")  # Snakemake's own, which say what a run reads and writes, and not who it is
DESCRIPTION = "study.json"
PATIENCE = 60  # seconds by which a file's time may differ from its record's: clocks of other machines
_held: list[FileLock] = []  # of this process, until it ends: a FileLock that nobody refers to is released


def begin_run() -> None:
    """Say for other runs in the working folder, until this process ends, that it works there."""
    lock = _lock()
    try:
        lock.acquire()
        write_text(
            RUNNING, f"process {os.getpid()} on {socket.gethostname()}, since {time.strftime('%Y-%m-%d %H:%M:%S')}"
        )
    except (Timeout, OSError):  # another run, which may make other results; or a file system without locks
        return
    _held.append(lock)


@cache  # the studies of one file share the folder
def warn_of_other_run(warn: Callable[[str], None]) -> None:
    """Say once, before Snakemake does, what to do about a run that holds its locks here."""
    if message := other_run():
        warn(message)


def other_run() -> str | None:
    """What to do about a run that holds Snakemake's locks here; None where there is none, or nobody knows of it."""
    try:
        holder = RUNNING.read_text()
        locked = any(LOCKS.iterdir())
    except OSError:
        return None
    if not locked:
        return None
    lock = _lock()
    try:
        lock.acquire()
        lock.release()
    except Timeout:
        return (
            f"Another run works in this folder: {holder}. Wait until it is done, or end it, then run the same command. "
            "`--unlock` is for a run that was killed; now it would let two runs write the same files."
        )
    except OSError:
        return f"Another run worked in this folder, and may still: {holder}. `--unlock` is for a run that was killed."
    where = "" if f" on {socket.gethostname()}," in holder else " Make sure of that on its machine."
    return (
        f"A run that worked in this folder, {holder}, was killed and left it locked.{where} "
        "Run `snakemake --unlock`, then the same command: what is finished stays."
    )


def level_copied(root: Path) -> None:
    """Give all files of results that were copied without their times one time, so that none is older than its inputs.

    A plain copy has the times of copying, in no order. Results that are where they were made, or were copied with their
    times, stay as they are, as another folder may be at work on them.
    """
    description, mark = root / DESCRIPTION, root / ".copied"
    try:
        record = read_record(record_of(description, root))
        written = datetime.fromisoformat(record["started"]).timestamp() + record["seconds"]
        now = description.stat().st_mtime
        if abs(now - written) <= PATIENCE or (mark.exists() and mark.read_text() == str(now)):
            return
        files = [Path(folder, name) for folder, folders, names in os.walk(root) for name in (*folders, *names)]
        latest = max(file.lstat().st_mtime_ns for file in files)
        for file in files:
            os.utime(file, ns=(latest, latest), follow_symlinks=False)
        write_text(mark, str(description.stat().st_mtime))
    except (OSError, InputError):  # of another user, say: Snakemake then makes again what looks older than its inputs
        return


def _lock() -> FileLock:
    RUNNING.parent.mkdir(parents=True, exist_ok=True)
    return FileLock(RUNNING.with_name("running.lock"), timeout=0, fallback_to_soft=False)
