"""Results and their records against each other and against the jobs of the configuration. Nothing is computed again."""

import contextlib
import os
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import pyarrow.parquet as pq

from heuristic_core.common.errors import InputError
from heuristic_core.common.hashing import file_digest
from heuristic_core.provenance.audit.finding import KINDS, Finding
from heuristic_core.provenance.job import Job, since
from heuristic_core.provenance.record import DEPENDS_ON, NETWORK, files_of, read_record, record_of, row_of
from heuristic_core.tables.schemas import schema

ORDER = list(KINDS)  # causes before what follows from them
# Results that have no record: what is made from all records, and what an audit or Snakemake itself writes.
UNRECORDED = {"tables/provenance.parquet", "audit.html", "audit.json"}
IGNORED_FOLDERS = {"logs", "hub"}  # folders that are no results: what jobs said, and what `publish` writes for others


def check(root: Path, jobs: Sequence[Job]) -> list[Finding]:
    """All findings on the study in the folder `root`, whose configuration asks for `jobs`."""
    digests: dict[str, str] = {}  # SHA-256 of every file hashed, by path

    def sha(path: str) -> str | None:
        if path not in digests and os.path.exists(path):
            digests[path] = file_digest(path)
        return digests.get(path)

    findings = [found for job in jobs for found in _job(root, job, sha)]
    return sorted(
        {*findings, *_orphans(root, jobs), *_collected(root)},
        key=lambda finding: (ORDER.index(finding.kind), finding.path),
    )


def made(root: Path, job: Job) -> bool:
    """Whether all results of a job and their records are there."""
    return all(Path(path).exists() and record_of(path, root).exists() for path in job.outputs)


def _job(root: Path, job: Job, sha) -> Iterator[Finding]:
    """Findings on the results of one job."""
    records = {}
    for path in job.outputs:
        file = record_of(path, root)
        if not file.exists():
            if Path(path).exists():
                yield Finding("unrecorded", path, f"there is no {file}")
            continue
        try:
            records[path] = read_record(file)
        except InputError as error:
            yield Finding("tampered", str(file), str(error))
    for path, record in records.items():
        yield from _result(root, path, record, sha)
    if len({record["digest"] for record in records.values()}) > 1:
        yield Finding("tampered", job.outputs[0], f"the results of job {job.name} have different records")
    if records:
        yield from _stale(job, next(iter(records.values())), sha)


def _result(root: Path, path: str, record: dict, sha) -> Iterator[Finding]:
    """A result against its record."""
    inside = os.path.relpath(path, root)
    recorded = {str(root / name): hash_ for name, hash_ in record["outputs"].items() if _below(name, inside)}
    current = {file: sha(file) for file in files_of(path)}
    if not recorded:
        yield Finding("tampered", path, "its record is of other results")
    for file in sorted(recorded.keys() | current.keys()):
        if file not in current:
            yield Finding("missing", file, f"made by {record['script']} on {record['started']}")
        elif file not in recorded:
            yield Finding("tampered", file, "was added after the job had ended")
        elif current[file] != recorded[file]:
            yield Finding("tampered", file, f"SHA-256 {current[file]}, recorded {recorded[file]}")


def _stale(job: Job, record: dict, sha) -> Iterator[Finding]:
    """A record against what the configuration asks for now, and against the files that there are now."""
    where = job.outputs[0]
    changes = since(record, job, sha)
    for line in changes.settings:
        yield Finding("stale", where, f"setting changed: {line}")
    if changes.code:
        yield Finding("stale", where, f"code or locked packages changed since commit {record['commit']}")
    for names, how in (
        (changes.inputs, "has changed"),
        (changes.gone, "is missing, or no longer read"),
        (changes.added, "was not read"),
    ):
        yield from (Finding("stale", where, f"{name} {how}") for name in names)


def _orphans(root: Path, jobs: Sequence[Job]) -> Iterator[Finding]:
    """Results and records that no job of the configuration makes."""
    expected = {os.path.relpath(path, root) for job in jobs for path in job.outputs} | UNRECORDED

    @cache
    def wanted(path: str) -> bool:
        return path in expected or (path not in ("", ".") and wanted(os.path.dirname(path)))

    for folder, folders, files in os.walk(root):
        inside = os.path.relpath(folder, root)
        folders[:] = [
            name for name in folders if not name.startswith(".") and not (inside == "." and name in IGNORED_FOLDERS)
        ]
        for name in files:
            path = os.path.normpath(os.path.join(inside, name))
            result = os.path.relpath(path, "provenance").removesuffix(".json") if _below(path, "provenance") else path
            if not name.startswith(".") and not name.endswith(".crate.zip") and not wanted(result):
                yield Finding("orphaned", str(root / path), "no job of the configuration makes it")


def _below(path: str, folder: str) -> bool:
    return Path(path).is_relative_to(folder)


def _collected(root: Path) -> Iterator[Finding]:
    """The table of records against the records."""
    table = root / "tables" / "provenance.parquet"
    if not table.exists():
        return
    try:
        collected = {row["job"]: row for row in pq.read_table(table, schema=schema("provenance")).to_pylist()}
    except (OSError, ValueError, KeyError) as error:
        yield Finding("tampered", str(table), f"cannot be read: {error}")
        return
    records = {}
    for file in sorted((root / "provenance").rglob("*.json")):
        with contextlib.suppress(InputError):  # found with the job's other results
            records[file] = read_record(file)
    rows = {row["job"]: (file, row) for file, record in records.items() for row in [row_of(root, record)]}
    later = []
    for job in sorted(rows.keys() | collected.keys()):
        file, row = rows.get(job, (None, None))
        if job not in collected or (row and row["started"] != collected[job]["started"]):
            # A download may run at any time, and nothing follows if it brings the same.
            if not (row and records[file]["settings"].get(DEPENDS_ON) == NETWORK):
                later.append(job)
        elif row is None:
            yield Finding("tampered", str(table), f"tells of job {job}, which left no record")
        elif row != collected[job]:
            other = ", ".join(key for key in row if row[key] != collected[job][key])
            yield Finding("tampered", str(file), f"differs from its row in {table}: {other}")
    if later:
        others = f", and {len(later) - 1} others" if later[1:] else ""
        yield Finding("stale", str(table), f"was made before job {later[0]} ran{others}")
