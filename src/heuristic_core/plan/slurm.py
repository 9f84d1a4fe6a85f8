"""What slurm/profile.yaml asks when Snakemake reads it: how to follow jobs, and what a user's own profile changes."""

import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping

SECONDS = 30  # that the accounting database has to answer


def status_command() -> str | None:
    """`sacct` where it answers, else `squeue`; None without SLURM. Says which, and why.

    Accounting may be off although `sacct` is installed; a run that then asked it would wait for ever.
    """
    if shutil.which("sbatch") is None:
        _say("there is no sbatch on this machine; jobs cannot be submitted from here, but a dry run (-n) works")
        return None
    if shutil.which("sacct") is None:
        return _chosen("squeue", "there is no sacct here")
    try:
        asked = subprocess.run(
            ["sacct", "--allocations", "--noheader", "--starttime", "now"],
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )
    except subprocess.TimeoutExpired:
        return _chosen("squeue", f"sacct gave no answer within {SECONDS} s")
    if asked.returncode:
        return _chosen("squeue", f"sacct says {asked.stderr.strip()!r}")
    return _chosen("sacct", "accounting is on")


def overridden(ours: Mapping, others: Iterable[Mapping]) -> dict:
    """The keys of `ours` that `others` change, later ones last; within a mapping, key by key. Null unsets a key."""
    changed: dict = {}
    for other in others:
        for key, value in other.items():
            under = changed.get(key, ours.get(key))
            if isinstance(under, Mapping) and isinstance(value, Mapping):
                value = {name: item for name, item in {**under, **value}.items() if item is not None}
            changed[key] = value
    return changed


def _chosen(command: str, reason: str) -> str:
    _say(f"the state of jobs comes from {command}: {reason}")
    return command


def _say(text: str) -> None:
    print(f"SLURM: {text}.", file=sys.stderr)
