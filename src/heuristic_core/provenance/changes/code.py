"""Code and locked packages that changed since a result was made, according to git."""

import ast
import subprocess
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from heuristic_core.provenance.digests import code_files, imported_packages, normalised_ast
from heuristic_core.provenance.job import Job
from heuristic_core.provenance.lock import relevant_pins

LOCK = Path("envs/requirements.txt")


class _UnknownCodeError(Exception):
    """Git cannot read the commit of a record."""


def find_changed_code(
    checkout: Path, job: Job, record: dict, find_drawing_modules: Callable[[Job], Sequence[Path]] = lambda job: ()
) -> list[str]:
    """Return what changed in a job's code since its record was written.

    Args:
        checkout: Folder of the repository.
        job: The job.
        record: Its record.
        find_drawing_modules: Function that returns the modules that a job loads by name, such as modules of figures.

    Returns:
        Paths in the checkout, and packages with both versions; what may have changed if the old code is unknown.
    """
    script, commit = Path("workflow/scripts") / f"{job.script}.py", record["commit"]
    unknown = [f"{script}, a module that it imports, or a locked package"]
    if not commit:
        return unknown
    try:
        files = _source_files(checkout / script, *find_drawing_modules(job))
        changes = [str(file) for file in _changed_files(checkout, commit) if checkout / file in files]
        changes = [file for file in changes if _differs(checkout, commit, file)]
        changes += _changed_packages(checkout, commit, files)
    except _UnknownCodeError:
        return unknown
    if record["dirty"]:
        changes.append(f"possibly files with uncommitted changes (commit {commit[:8]}) when {job.outputs[0]} was made")
    return changes or [f"{script}, or a module that it imports"]


def _source_files(*roots: Path) -> list[Path]:
    """Return the files of a job's code digest, and the YAML files and templates beside them."""
    files = code_files(*roots)
    folders = {file.parent for file in files}
    return [
        *files,
        *(path for folder in folders for pattern in ("*.yaml", "templates/*") for path in folder.glob(pattern)),
    ]


@cache
def _changed_files(checkout: Path, commit: str) -> list[Path]:
    """Return files that differ from the commit, including new files."""
    changed = _run_git(checkout, "diff", "--name-only", "--relative", commit)
    untracked = _run_git(checkout, "ls-files", "--others", "--exclude-standard")
    return [Path(name) for name in (changed + untracked).splitlines()]


@cache
def _differs(checkout: Path, commit: str, file: str) -> bool:
    """Return whether a file differs from the commit, apart from comments and docstrings of Python."""
    try:
        before, now = _run_git(checkout, "show", f"{commit}:./{file}"), (checkout / file).read_text()
    except (_UnknownCodeError, OSError):  # added or removed since the commit
        return True
    return not file.endswith(".py") or normalised_ast(ast.parse(before)) != normalised_ast(ast.parse(now))


def _changed_packages(checkout: Path, commit: str, files: Sequence[Path]) -> list[str]:
    """Return packages of these files whose pinned version changed, such as `numpy 2.4.6 -> 2.5.0`."""
    texts = _run_git(checkout, "show", f"{commit}:./{LOCK}"), (checkout / LOCK).read_text()
    before, now = (relevant_pins(text, imported_packages(files)) for text in texts)
    names = [name for name in sorted(before.keys() | now.keys()) if before.get(name) != now.get(name)]
    return [f"{name} {before.get(name)} -> {now.get(name)}" for name in names]


def _run_git(checkout: Path, *arguments: str) -> str:
    """Return the output of a git command.

    Raises:
        _UnknownCodeError: If git is missing or fails.
    """
    try:
        return subprocess.run(["git", *arguments], cwd=checkout, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        raise _UnknownCodeError from None
