"""What slurm/profile.yaml asks when Snakemake reads it: how to follow jobs, and what a user's own profile changes."""

import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from heuristic_core.common.errors import InputError
from heuristic_core.plan.profiles import read_profile

TIMEOUT_SECONDS = 30  # that the accounting database has to answer


def choose_status_command() -> str | None:
    """`sacct` where it answers, else `squeue`; None without SLURM. Says which, and why.

    Accounting may be off although `sacct` is installed; a run that then asked it would wait for ever.
    """
    if shutil.which("sbatch") is None:
        _say("there is no sbatch on this machine; jobs cannot be submitted from here, but a dry run (-n) works")
        return None
    if shutil.which("sacct") is None:
        return _report_choice("squeue", "there is no sacct here")
    try:
        process = subprocess.run(
            ["sacct", "--allocations", "--noheader", "--starttime", "now"],
            capture_output=True,
            text=True,
            timeout=TIMEOUT_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return _report_choice("squeue", f"sacct gave no answer within {TIMEOUT_SECONDS} s")
    if process.returncode:
        return _report_choice("squeue", f"sacct says {process.stderr.strip()!r}")
    return _report_choice("sacct", "accounting is on")


def read_user_profiles(files: Sequence[Path], parser: Callable, process: Callable) -> list[dict]:
    """What the profiles of the site and the user say. parser: makes Snakemake's. process: yte's `process_yaml`.

    Ends with one message that names file and key where one of them is none.
    """
    if not files:
        return []
    options = {}
    for action in parser()._actions:
        names = [name.removeprefix("--") for name in action.option_strings if name.startswith("--")]
        options |= dict.fromkeys(names, names[0] if names else None)
    try:
        return [read_profile(file, process, options) for file in files]
    except InputError as error:
        print(error, file=sys.stderr)
        sys.exit(1)


def _report_choice(command: str, reason: str) -> str:
    _say(f"the state of jobs comes from {command}: {reason}")
    return command


def _say(text: str) -> None:
    print(f"SLURM: {text}.", file=sys.stderr)
