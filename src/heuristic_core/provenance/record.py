"""Provenance records: what each result was made from, written by its job and checked by jobs that read it.

The result `<study>/tables/core.parquet` has the record `<study>/provenance/tables/core.parquet.json`. All results of a
job have the same record. It contains no user name, host, secret or path outside the checkout.
"""

import hashlib
import json
import logging
import os
import platform
import re
import shlex
import sys
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from heuristic_core.common import arithmetic as arithmetics
from heuristic_core.common.atomic import write_text
from heuristic_core.common.errors import InputError
from heuristic_core.common.hashing import file_digest
from heuristic_core.provenance.digests import package_versions
from heuristic_core.provenance.settings import collect_seeds, extract_settings, find_precision, redact

LOGGER = logging.getLogger(__name__)
COMMIT_VARIABLE = (
    "HEURISTIC_CORE_COMMIT"  # environment variable set by the workflow: the commit, then + if files differ from it
)
RECORD_FIELDS = {
    *("job", "script", "settings", "inputs", "sources", "outputs", "code", "commit", "dirty", "packages", "system"),
    *("seeds", "device", "processor", "precision", "arithmetic", "started", "seconds", "digest"),
}
# Option of a rule whose results depend on more than files, settings and code: on the run (a report with run times) or
# on a network (a download).
DEPENDS_ON = "depends-on"
DEPENDS_ON_RUN, DEPENDS_ON_NETWORK = "run", "network"


class Record:
    """The record of this process's job. It is made when the job starts; inputs are hashed and checked.

    Args:
        code: Digest of the job's code.
        inputs: Paths of files or folders that the job reads.
        outputs: Paths of files or folders that it makes.
        log: Path `<study>/logs/<job>.log`.
        arguments: Command line of the job.
        arithmetic: Arithmetic used; native if this processor lacks the one that the study asks for.
    """

    def __init__(self, code, inputs: Sequence[str], outputs: Sequence[str], log: str, arguments, arithmetic: str):
        self.root, job = study_and_job(log)
        self.outputs, self.arithmetic = outputs, arithmetic
        self.started, self.start_clock = datetime.now(UTC), time.monotonic()
        self.fields = {
            "job": job,
            "script": Path(sys.argv[0]).stem,
            "settings": extract_settings(arguments, {*inputs, *outputs}),
            "code": code,
        }
        digests_by_input = {path: result_digests(path) for path in inputs}
        for path, file_digests in digests_by_input.items():
            if Path(path).is_relative_to(self.root):
                check_result(path, file_digests, self.root)
        files = {file: sha for file_digests in digests_by_input.values() for file, sha in file_digests.items()}
        self.fields["inputs"], self.fields["sources"] = relative_digests(files, self.root)

    def write(self) -> None:
        """Write the record of the finished job, once for every result.

        Raises:
            InputError: If a library that was loaded meanwhile computes in another arithmetic.
        """
        arithmetics.check_arithmetic(self.arithmetic)
        chosen_settings = self.fields["settings"]
        device = chosen_settings.get("device", "cpu")
        self.fields |= {
            "outputs": relative_digests(
                {file: sha for path in self.outputs for file, sha in result_digests(path).items()}, self.root
            )[0],
            "seeds": collect_seeds(chosen_settings),
            "device": device,
            "processor": processor_name(device),
            "precision": find_precision(chosen_settings),
            "arithmetic": self.arithmetic,
            "started": self.started.isoformat(timespec="seconds").replace("+00:00", "Z"),
            "seconds": round(time.monotonic() - self.start_clock, 3),
        } | describe_environment()
        self.fields["digest"] = record_digest(self.fields)
        for path in self.outputs:
            write_text(record_path(path, self.root), json.dumps(self.fields, indent=1, sort_keys=True) + "\n")


_CURRENT: list[Record] = []  # at most one


def set_record(record: Record) -> None:
    """Set the record of this process's job; `run_with_record` writes it when the job has succeeded."""
    _CURRENT[:] = [record]


def run_with_record(main: Callable, *arguments: Any) -> None:
    """Run a script's main function; if it succeeds, write the record that it set with `set_record`.

    A command without a record ends quietly when the reader of its output is gone, as after `| head`.

    Args:
        main: The function.
        arguments: Its arguments.

    Raises:
        BrokenPipeError: If the reader of the output of a job with a record is gone.
    """
    try:
        try:
            main(*arguments)
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        if _CURRENT:
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python flushes stdout again at exit
    for record in _CURRENT:
        record.write()


def study_and_job(log: str) -> tuple[Path, str]:
    """Return the study's folder and the job's name for the log `<study>/logs/<job>.log`."""
    root, _, job = log.rpartition("/logs/")
    return Path(root), job.removesuffix(".log")


def record_path(path: str | Path, root: Path) -> Path:
    """Return the path of the record of a result.

    Args:
        path: Path of the result.
        root: Folder of the study.
    """
    return root / "provenance" / f"{os.path.relpath(path, root)}.json"


def result_files(path: str | Path) -> list[str]:
    """Return the files of a result: the file, or all files in the folder except hidden ones; empty if it is missing."""
    if not os.path.isdir(path):
        return [str(path)] if os.path.exists(path) else []
    return sorted(str(file) for file in Path(path).rglob("*") if file.is_file() and not file.name.startswith("."))


def result_digests(path: str | Path) -> dict[str, str]:
    """Return path -> SHA-256 of every file of a result."""
    return {file: file_digest(file) for file in result_files(path)}


def relative_digests(files: dict[str, str], root: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Separate results from other files, and name both as records do.

    Args:
        files: Path -> SHA-256.
        root: Folder of the study; results are named by their path in it.

    Returns:
        SHA-256 by name of results and of other files. Those outside the working directory are named by the last part
        of their path, numbered if it is not unique.
    """
    results, sources = {}, {}
    for path, sha in files.items():
        if Path(path).is_relative_to(root):
            results[os.path.relpath(path, root)] = sha
            continue
        name, count = redact(path), 1
        while name in sources:
            count += 1
            name = f"{redact(path)} ({count})"
        sources[name] = sha
    return results, sources


def check_result(path: str, file_digests: dict[str, str], root: Path) -> None:
    """Check a result against its record. A result without a record passes.

    Args:
        path: Path of the result.
        file_digests: Path -> SHA-256 of its files.
        root: Folder of the study.

    Raises:
        InputError: If the record is damaged, or a file was changed, added or removed since the result was made.
    """
    file = record_path(path, root)
    if not file.exists():
        return LOGGER.info("%s has no record; not checked", path)
    record = read_record(file)
    current = {os.path.relpath(file, root): sha for file, sha in file_digests.items()}
    prefix = os.path.relpath(path, root)
    expected = {name: sha for name, sha in record["outputs"].items() if Path(name).is_relative_to(prefix)}
    for name in sorted(current.keys() | expected.keys()):
        if current.get(name) != expected.get(name):
            state = "is missing" if name not in current else "was added" if name not in expected else "has changed"
            raise InputError(
                f"{root / name} {state} since {record['script']} made it (SHA-256 {current.get(name)}, recorded "
                f"{expected.get(name)}). To recompute it: rm -r {shlex.quote(path)}, then run the study again"
            )


def record_digest(record: dict) -> str:
    """Return the SHA-256 of a record's content without its field `digest`."""
    content = {key: value for key, value in record.items() if key != "digest"}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def read_record(file: str | Path) -> dict:
    """Read a record.

    Raises:
        InputError: If the file is missing, damaged or edited.
    """
    try:
        record = json.loads(Path(file).read_text())
        problem = None if record["digest"] == record_digest(record) else "it was changed after it was written"
        if missing := sorted(RECORD_FIELDS - record.keys()):
            problem = f"it lacks {', '.join(missing)}"
    except (OSError, KeyError, TypeError, ValueError) as error:
        problem = f"{type(error).__name__}: {error}"
    if problem:
        raise InputError(
            f"{file} is not a valid provenance record ({problem}). Remove it and its result, then run the study again"
        )
    return record


def processor_name(device: str) -> str:
    """Return the model name of the processor, or of the GPU for `cuda`."""
    if device == "cuda" and "torch" in sys.modules:
        return sys.modules["torch"].cuda.get_device_name()
    return _cpu_name()


@cache
def _cpu_name() -> str:
    """Return the model name of the processor."""
    cpuinfo = Path("/proc/cpuinfo")
    names = re.findall(r"^model name\s*:\s*(.+)$", cpuinfo.read_text(), re.MULTILINE) if cpuinfo.exists() else []
    return names[0] if names else platform.processor() or platform.machine()


def describe_environment() -> dict:
    """Return the commit, whether files differ from it, the system and the versions of packages, as in a record."""
    commit = os.environ.get(COMMIT_VARIABLE, "")
    return {
        "commit": commit.rstrip("+") or None,
        "dirty": commit.endswith("+") if commit else None,
        "system": f"{platform.system()} {platform.machine()}",
        "packages": package_versions(),
    }


def read_records(root: str | Path) -> list[dict]:
    """Return the record of every job of the study in folder `root`, sorted by the job's name."""
    files = Path(root).joinpath("provenance").rglob("*.json")
    jobs = {record["job"]: record for record in map(read_record, files)}
    return [jobs[job] for job in sorted(jobs)]


def provenance_rows(root: str | Path) -> list[dict]:
    """Return the rows of table `provenance` of the study in folder `root`, one per job, sorted by name."""
    return [provenance_row(root, record) for record in read_records(root)]


def provenance_row(root: str | Path, record: dict) -> dict:
    """Return the row of a record in table `provenance`.

    Args:
        root: Folder of the study, whose name becomes a column.
        record: Content of the record; dictionaries in it become JSON.
    """
    cells = {key: json.dumps(cell, sort_keys=True) if isinstance(cell, dict) else cell for key, cell in record.items()}
    return {"study": Path(root).name} | cells
