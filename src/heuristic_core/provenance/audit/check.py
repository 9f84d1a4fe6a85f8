"""Check results and records against each other and against the configuration, without recomputation."""

import contextlib
import os
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import pyarrow.parquet as pq

from heuristic_core.common.errors import InputError
from heuristic_core.common.hashing import file_digest
from heuristic_core.provenance.audit.finding import KINDS, Finding
from heuristic_core.provenance.job import Job, compare_with_record
from heuristic_core.provenance.record import (
    DEPENDS_ON,
    DEPENDS_ON_NETWORK,
    provenance_row,
    read_record,
    record_path,
    result_files,
)
from heuristic_core.tables.schemas import get_schema

_KIND_ORDER = list(KINDS)
# Files without a record: the table of all records, the audit's own output, and the report as printed.
_UNRECORDED = {"tables/provenance.parquet", "audit.html", "audit.json", "report.pdf"}
_IGNORED_FOLDERS = {"logs", "hub"}  # not results: logs of jobs, and checkpoints that `publish` writes for the hub


def check_study(root: Path, jobs: Sequence[Job]) -> list[Finding]:
    """Check a study.

    Args:
        root: Folder of the study.
        jobs: Jobs of its configuration.

    Returns:
        Findings without duplicates, in the order of `KINDS`, then by path.
    """
    digests: dict[str, str] = {}  # path -> SHA-256, so that a file is hashed once

    def sha(path: str) -> str | None:
        if path not in digests and os.path.exists(path):
            digests[path] = file_digest(path)
        return digests.get(path)

    findings = {finding for job in jobs for finding in _check_job(root, job, sha)}
    findings |= {*_find_orphans(root, jobs), *_check_table(root)}
    return sorted(findings, key=lambda finding: (_KIND_ORDER.index(finding.kind), finding.path, finding.detail))


def is_complete(root: Path, job: Job) -> bool:
    """Return whether all results of a job and their records exist.

    Args:
        root: Folder of the study.
        job: The job.
    """
    return all(Path(path).exists() and record_path(path, root).exists() for path in job.outputs)


def _check_job(root: Path, job: Job, sha) -> Iterator[Finding]:
    """Yield findings on the results of one job; `sha` returns the SHA-256 of a file."""
    records = {}
    for path in job.outputs:
        file = record_path(path, root)
        if not file.exists():
            if Path(path).exists():
                yield Finding("unrecorded", path, f"{file} does not exist")
            continue
        try:
            records[path] = read_record(file)
        except InputError as error:
            yield Finding("tampered", str(file), str(error))
    for path, record in records.items():
        yield from _check_result(root, path, record, sha)
    if len({record["digest"] for record in records.values()}) > 1:
        yield Finding("tampered", job.outputs[0], f"results of job {job.name} have different records")
    if records:
        yield from _find_stale(job, next(iter(records.values())), sha)


def _check_result(root: Path, path: str, record: dict, sha) -> Iterator[Finding]:
    """Compare the files of a result with its record."""
    prefix = os.path.relpath(path, root)
    expected = {
        str(root / name): digest for name, digest in record["outputs"].items() if Path(name).is_relative_to(prefix)
    }
    current = {file: sha(file) for file in result_files(path)}
    if not expected:
        yield Finding("tampered", path, "its record lists only other results")
    for file in sorted(expected.keys() | current.keys()):
        if file not in current:
            yield Finding("missing", file, f"made by {record['script']} on {record['started']}")
        elif file not in expected:
            yield Finding("tampered", file, "was added after the job ended")
        elif current[file] != expected[file]:
            yield Finding("tampered", file, f"SHA-256 {current[file]}, recorded {expected[file]}")


def _find_stale(job: Job, record: dict, sha) -> Iterator[Finding]:
    """Compare a record with the job of the current configuration and with the current input files."""
    result = job.outputs[0]
    changes = compare_with_record(record, job, sha)
    for line in changes.settings:
        yield Finding("stale", result, f"setting changed: {line}")
    if changes.code:
        yield Finding("stale", result, f"code or locked packages changed since commit {record['commit']}")
    for names, change in (
        (changes.inputs, "has changed"),
        (changes.removed, "is missing, or no longer read"),
        (changes.added, "was not read"),
    ):
        yield from (Finding("stale", result, f"{name} {change}") for name in names)


def _find_orphans(root: Path, jobs: Sequence[Job]) -> Iterator[Finding]:
    """Find results and records that no job of the configuration makes."""
    expected = {os.path.relpath(path, root) for job in jobs for path in job.outputs} | _UNRECORDED

    @cache
    def is_expected(path: str) -> bool:
        return path in expected or (path not in ("", ".") and is_expected(os.path.dirname(path)))

    for folder, folders, files in os.walk(root):
        prefix = os.path.relpath(folder, root)
        folders[:] = [
            name for name in folders if not name.startswith(".") and not (prefix == "." and name in _IGNORED_FOLDERS)
        ]
        for name in files:
            path = os.path.normpath(os.path.join(prefix, name))
            is_record = Path(path).is_relative_to("provenance")
            result = os.path.relpath(path, "provenance").removesuffix(".json") if is_record else path
            if not name.startswith(".") and not name.endswith(".crate.zip") and not is_expected(result):
                yield Finding("orphaned", str(root / path), "no job of the configuration makes it")


def _check_table(root: Path) -> Iterator[Finding]:
    """Compare the table of records with the records."""
    table = root / "tables" / "provenance.parquet"
    if not table.exists():
        return
    try:
        collected = {row["job"]: row for row in pq.read_table(table, schema=get_schema("provenance")).to_pylist()}
    except (OSError, ValueError, KeyError) as error:
        yield Finding("tampered", str(table), f"cannot be read: {error}")
        return
    records = {}
    for file in sorted((root / "provenance").rglob("*.json")):
        with contextlib.suppress(InputError):  # reported by _check_job
            records[file] = read_record(file)
    rows = {row["job"]: (file, row) for file, record in records.items() for row in [provenance_row(root, record)]}
    later = []
    for job in sorted(rows.keys() | collected.keys()):
        file, row = rows.get(job, (None, None))
        if job not in collected or (row and row["started"] != collected[job]["started"]):
            # A download that ran again is not newer than the table: its results may be the same.
            if not (row and records[file]["settings"].get(DEPENDS_ON) == DEPENDS_ON_NETWORK):
                later.append(job)
        elif row is None:
            yield Finding("tampered", str(table), f"lists job {job}, which has no record")
        elif row != collected[job]:
            columns = ", ".join(key for key in row if row[key] != collected[job][key])
            yield Finding("tampered", str(file), f"differs from its row in {table}: {columns}")
    if later:
        others = f", and {len(later) - 1} others" if later[1:] else ""
        yield Finding("stale", str(table), f"was made before job {later[0]} ran{others}")
