"""Working folder of Snakemake: other runs in it, and file times of copied results."""

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
from heuristic_core.provenance.record import read_record, record_path

RUN_FILE = Path(".snakemake/heuristic-core/running")
LOCK_DIR = Path(".snakemake/locks")  # Snakemake's locks, which do not identify the process
STUDY_FILE = "study.json"
CLOCK_TOLERANCE = 60  # seconds by which clocks of machines, and so times of a file and its record, may differ
_held_locks: list[FileLock] = []  # until this process ends: a FileLock without references is released


def begin_run() -> None:
    """Register this process as a run in the working folder, until it ends."""
    lock = _make_lock()
    try:
        lock.acquire()
        write_text(
            RUN_FILE, f"process {os.getpid()} on {socket.gethostname()}, since {time.strftime('%Y-%m-%d %H:%M:%S')}"
        )
    except (Timeout, OSError):  # another run, which may make other results, or a file system without locks
        return
    _held_locks.append(lock)


@cache  # once for all studies of a configuration file
def warn_of_other_run(warn: Callable[[str], None]) -> None:
    """Warn about another run that holds Snakemake's locks, before Snakemake fails.

    Args:
        warn: Function that prints a message.
    """
    if message := describe_other_run():
        warn(message)


def describe_other_run() -> str | None:
    """Return what to do about a run that holds Snakemake's locks; None without locks, or if the run is unknown."""
    try:
        holder = RUN_FILE.read_text()
        locked = any(LOCK_DIR.iterdir())
    except OSError:
        return None
    if not locked:
        return None
    lock = _make_lock()
    try:
        lock.acquire()
        lock.release()
    except Timeout:
        return (
            f"Another run works in this folder: {holder}. Wait until it ends, or end it, then run the same command. "
            "`--unlock` is for a run that was killed; now it would let two runs write the same files."
        )
    except OSError:
        return f"Another run may still work in this folder: {holder}. `--unlock` is for a run that was killed."
    advice = "" if f" on {socket.gethostname()}," in holder else " Check on that machine that it has ended."
    return (
        f"A run that worked in this folder, {holder}, was killed and left it locked.{advice} "
        "`snakemake --unlock` unlocks it; then run the same command: finished results are kept."
    )


def equalise_copied_times(root: Path) -> None:
    """Give all files of a copied study the same time, so that no result looks older than its inputs.

    A copy without file times has the times of copying, in any order. Studies that were not copied, or were copied with
    their times, are left alone, since another run may work on them.

    Args:
        root: Folder of the study.
    """
    description, marker = root / STUDY_FILE, root / ".copied"
    try:
        record = read_record(record_path(description, root))
        recorded_time = datetime.fromisoformat(record["started"]).timestamp() + record["seconds"]
        file_time = description.stat().st_mtime
        is_done = marker.exists() and marker.read_text() == str(file_time)
        if abs(file_time - recorded_time) <= CLOCK_TOLERANCE or is_done:
            return
        files = [Path(folder, name) for folder, folders, names in os.walk(root) for name in (*folders, *names)]
        latest = max(file.lstat().st_mtime_ns for file in files)
        for file in files:
            os.utime(file, ns=(latest, latest), follow_symlinks=False)
        write_text(marker, str(description.stat().st_mtime))
    except (OSError, InputError):  # such as files of another user: Snakemake reruns what looks older than its inputs
        return


def _make_lock() -> FileLock:
    """Make the lock that a run holds in the working folder."""
    RUN_FILE.parent.mkdir(parents=True, exist_ok=True)
    return FileLock(RUN_FILE.with_name("running.lock"), timeout=0, fallback_to_soft=False)
