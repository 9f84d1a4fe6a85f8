"""How Snakemake follows jobs of SLURM: slurm/profile.yaml asks this module when Snakemake reads it."""

import shutil
import subprocess
import sys

TIMEOUT_SECONDS = 30  # that the accounting database has to answer


def choose_status_command() -> str | None:
    """`sacct` where it answers, else `squeue`; None without SLURM. Says which, and why.

    Accounting may be off although `sacct` is installed; a run that then asked it would wait for ever.
    """
    if shutil.which("sbatch") is None:
        _print_message(
            "there is no sbatch on this machine; jobs cannot be submitted from here, but a dry run (-n) works"
        )
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


def _report_choice(command: str, reason: str) -> str:
    _print_message(f"the state of jobs comes from {command}: {reason}")
    return command


def _print_message(text: str) -> None:
    print(f"SLURM: {text}.", file=sys.stderr)
