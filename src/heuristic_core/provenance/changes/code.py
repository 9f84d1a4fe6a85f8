"""Which code, and which locked packages, are other than when a result was made."""

import ast
import subprocess
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from heuristic_core.provenance.digests import code_files, imported, meaning
from heuristic_core.provenance.job import Job
from heuristic_core.provenance.lock import locked

LOCK = Path("envs/requirements.txt")


class Unknown(Exception):
    """Nothing tells what the code was."""


def changed_code(
    checkout: Path, job: Job, record: dict, drawing: Callable[[Job], Sequence[Path]] = lambda job: ()
) -> list[str]:
    """What of a job's code changed since its record was written: paths in the checkout, and packages.

    drawing: modules that a job loads by name, as those that draw.
    Where the record, or git, cannot tell: what it may be.
    """
    script, commit = Path("workflow/scripts") / f"{job.script}.py", record["commit"]
    try:
        if not commit:
            raise Unknown
        files = _sources(checkout / script, *drawing(job))
        changes = [str(file) for file in _changed_files(checkout, commit) if checkout / file in files]
        changes = [file for file in changes if _differs(checkout, commit, file)] + _packages(checkout, commit, files)
    except Unknown:
        return [f"{script}, or what it imports, or a locked package"]
    if record["dirty"]:  # the commit was not all that there was
        changes.append(f"or what differed from commit {commit[:8]} when {job.outputs[0]} was made")
    return changes or [f"{script}, or what it imports"]


def _sources(*roots: Path) -> list[Path]:
    """The files that a job's code digest covers, and other files beside them that their modules read."""
    files = code_files(*roots)
    folders = {file.parent for file in files}
    return [
        *files,
        *(path for folder in folders for pattern in ("*.yaml", "templates/*") for path in folder.glob(pattern)),
    ]


@cache
def _changed_files(checkout: Path, commit: str) -> list[Path]:
    """Files that differ from the commit, new ones too."""
    names = _git(checkout, "diff", "--name-only", "--relative", commit) + _git(
        checkout, "ls-files", "--others", "--exclude-standard"
    )
    return [Path(name) for name in names.splitlines()]


@cache
def _differs(checkout: Path, commit: str, file: str) -> bool:
    """Whether a file means something else than in the commit. Comments and docstrings of Python mean nothing."""
    try:
        before, now = _git(checkout, "show", f"{commit}:./{file}"), (checkout / file).read_text()
    except (Unknown, OSError):  # it is new, or was removed
        return True
    return not file.endswith(".py") or meaning(ast.parse(before)) != meaning(ast.parse(now))


def _packages(checkout: Path, commit: str, files: Sequence[Path]) -> list[str]:
    """Packages that these files depend on whose pinned version changed, as `numpy 2.4.6 -> 2.5.0`."""
    texts = _git(checkout, "show", f"{commit}:./{LOCK}"), (checkout / LOCK).read_text()
    before, now = (locked(text, imported(files)) for text in texts)
    names = [name for name in sorted(before.keys() | now.keys()) if before.get(name) != now.get(name)]
    return [f"{name} {before.get(name)} -> {now.get(name)}" for name in names]


def _git(checkout: Path, *arguments: str) -> str:
    try:
        return subprocess.run(["git", *arguments], cwd=checkout, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        raise Unknown from None
