"""Choice of the command that queries the state of SLURM jobs. slurm/profile.yaml calls it."""

import shutil
import subprocess
import sys

TIMEOUT_SECONDS = 30  # for an answer of the accounting database


def choose_status_command() -> str | None:
    """Choose the command, and print the choice with its reason.

    Accounting may be off although `sacct` is installed. A run that used it would then wait forever.

    Returns:
        "sacct" if it works, else "squeue"; None without SLURM.
    """
    if shutil.which("sbatch") is None:
        _print_message("sbatch not found: jobs cannot be submitted from this machine, but a dry run (-n) works")
        return None
    if shutil.which("sacct") is None:
        return _report_choice("squeue", "sacct not found")
    try:
        process = subprocess.run(
            ["sacct", "--allocations", "--noheader", "--starttime", "now"],
            capture_output=True,
            text=True,
            timeout=TIMEOUT_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return _report_choice("squeue", f"sacct did not answer within {TIMEOUT_SECONDS} s")
    if process.returncode:
        return _report_choice("squeue", f"sacct failed: {process.stderr.strip()!r}")
    return _report_choice("sacct", "accounting is on")


def _report_choice(command: str, reason: str) -> str:
    """Print the choice and return it."""
    _print_message(f"querying the state of jobs by {command}: {reason}")
    return command


def _print_message(text: str) -> None:
    print(f"SLURM: {text}.", file=sys.stderr)
