"""Compare a study's results byte for byte with published digests, and explain the first difference.

The published digests of a study are one JSON file. It lists jobs in topological order, each with the SHA-256 of every
result and with what it was made with. Files that describe the run itself (records, logs, report) are left out.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from heuristic_core.common.atomic import write_text
from heuristic_core.common.errors import InputError
from heuristic_core.common.hashing import file_digest
from heuristic_core.provenance.record import (
    DEPENDS_ON,
    DEPENDS_ON_RUN,
    processor_name,
    read_record,
    read_records,
    record_path,
)

# Packages whose versions affect no result: the code of this one has its own digest.
IGNORED_PACKAGES = ("heuristic-core", "snakemake")
DIGEST_LENGTH = 16  # hexadecimal digits of the digest of a job's settings


class Difference(NamedTuple):
    """The first result, in topological order of jobs, that differs from the published one.

    Attributes:
        rule: Script of the job that made it.
        job: Name of the job.
        result: Path of the result in the study's folder.
        reason: Likely reason according to the records.
    """

    rule: str
    job: str
    result: str
    reason: str


class Comparison(NamedTuple):
    """Comparison of a study with its published digests.

    Attributes:
        results: Number of published results.
        differing: Number of results with other content.
        missing: Number of results that do not exist.
        first: The first difference; None if all results are the same.
    """

    results: int
    differing: int
    missing: int
    first: Difference | None


def write_digests(root: Path, file: Path) -> int:
    """Write the digests of a finished study.

    Args:
        root: Folder of the study.
        file: Path of the JSON file to write.

    Returns:
        Number of results.

    Raises:
        InputError: If there are no results, if they were made in different arithmetics or with different packages, or
            if one was changed since its job made it.
    """
    jobs = _sort_topologically(
        [record for record in read_records(root) if record["settings"].get(DEPENDS_ON) != DEPENDS_ON_RUN]
    )
    if not jobs:
        raise InputError(f"{root}: no results with records; run the study first")
    common = {name: jobs[0][name] for name in ("arithmetic", "packages")}
    if mismatched := [record["job"] for record in jobs if any(record[name] != value for name, value in common.items())]:
        raise InputError(
            f"{root}: results of jobs {mismatched[0]} and {jobs[0]['job']} differ in arithmetic or package versions; "
            f"remove {root} and run the study again"
        )
    changed = [path for record in jobs for path, sha in record["outputs"].items() if _file_digest(root / path) != sha]
    if changed:
        raise InputError(f"{root / changed[0]} has changed since its job made it; remove it and run the study again")
    jobs_json = [
        {"job": record["job"], "rule": record["script"]} | _causes(record) | _results(record) for record in jobs
    ]
    write_text(file, json.dumps({"study": root.name, **common, "jobs": jobs_json}, indent=0) + "\n")
    return sum(len(job["results"]) for job in jobs_json)


def compare_results(root: Path, file: Path) -> Comparison:
    """Compare results with published digests.

    Args:
        root: Folder of the study.
        file: Path of the digests, written by `write_digests`.

    Raises:
        InputError: If `file` is missing or damaged.
    """
    published = read_digests(file)
    results = differing = missing = 0
    first = None
    for job in published["jobs"]:
        for path, sha in job["results"].items():
            digest = _file_digest(root / path)
            results += 1
            missing += digest is None
            differing += digest not in (None, sha)
            if digest != sha and first is None:
                first = Difference(job["rule"], job["job"], path, _reason(root, path, digest, job, published))
    return Comparison(results, differing, missing, first)


def read_digests(file: Path) -> dict:
    """Read published digests.

    Raises:
        InputError: If `file` is missing or damaged.
    """
    try:
        published = json.loads(file.read_text())
    except FileNotFoundError:
        raise InputError(
            f"{file}: no such file: this study has no published digests. To compare later runs with the current "
            "results, write them: make expected CONFIG=<configuration>"
        ) from None
    except ValueError as error:
        fault = str(error)
    else:
        missing = {"study", "arithmetic", "packages", "jobs"} - published.keys()
        fault = f"it lacks {', '.join(sorted(missing))}" if missing else None
    if fault:
        raise InputError(f"{file} is damaged ({fault}); restore it with git checkout -- {file}")
    return published


def format_comparison(root: Path, file: Path, comparison: Comparison) -> str:
    """Return a comparison as text.

    Args:
        root: Folder of the study.
        file: Path of the published digests.
        comparison: Result of :func:`compare_results`.
    """
    if comparison.first is None:
        return f"{root}: all {comparison.results} results equal those of {file}, byte for byte"
    counts = f"{comparison.differing} differ" + (f", {comparison.missing} are missing" if comparison.missing else "")
    first = "first difference" if comparison.differing else "first missing result"
    return (
        f"{root}: of {comparison.results} results in {file}, {counts}\n  {first}: rule "
        f"{comparison.first.rule}, job {comparison.first.job}: {comparison.first.result}\n  likely reason: "
        f"{comparison.first.reason}"
    )


def _sort_topologically(jobs: list[dict]) -> list[dict]:
    """Sort records so that a job comes after the jobs whose results it reads; jobs of equal depth by name."""
    makers = {path: record["job"] for record in jobs for path in record["outputs"]}
    dependencies = {record["job"]: {makers[path] for path in record["inputs"] if path in makers} for record in jobs}

    @cache
    def depth(job: str) -> int:
        return 1 + max(map(depth, dependencies[job]), default=0)

    return sorted(jobs, key=lambda record: (depth(record["job"]), record["job"]))


def _results(record: Mapping) -> dict:
    """Return the digests of a job's results, as published."""
    return {"results": dict(sorted(record["outputs"].items()))}


def _causes(record: Mapping) -> dict:
    """Return what a job's results depend on, as published."""
    settings = hashlib.sha256(json.dumps(record["settings"], sort_keys=True).encode()).hexdigest()
    return {"settings": settings[:DIGEST_LENGTH], "code": record["code"], "sources": record["sources"]}


def _file_digest(path: Path) -> str | None:
    """Return the SHA-256 of a file; None if it is missing."""
    return file_digest(path) if path.is_file() else None


def _reason(root: Path, path: str, digest: str | None, job: dict, published: dict) -> str:
    """Return the likely reason why the first differing result is not the published one.

    Args:
        root: Folder of the study.
        path: Path of the result in it.
        digest: SHA-256 of the result; None if it is missing.
        job: Published job that made it.
        published: All published digests.
    """
    if digest is None:
        return "it is missing; complete the run of the study"
    if (record := _find_record(root, path)) is None:
        return "it has no record: it was not made by this workflow"
    if record["outputs"].get(path) != digest:
        return f"it has changed since {record['script']} made it; remove it and run the study again"
    return "; ".join(_iter_differences(record, job, published)) or (
        f"the processor ({processor_name('cpu')}) or the system's C library: arithmetic, settings, files, packages "
        "and code are the same. `pytest tests/test_arithmetic.py` names an operation that rounds differently here"
    )


def _iter_differences(record: dict, job: dict, published: dict) -> Iterator[str]:
    """Yield what differs between the record of a job and the published job."""
    current = _causes(record)
    if record["arithmetic"] != published["arithmetic"]:
        yield f"arithmetic: {record['arithmetic']} here, {published['arithmetic']} in the published results"
    if current["settings"] != job["settings"]:
        yield "the configuration: settings of this job differ"
    if changed := sorted(name for name, sha in current["sources"].items() if job["sources"].get(name) != sha):
        yield f"input files of the job: {', '.join(changed)}"
    versions = [
        f"{name} {version} -> {record['packages'].get(name)}"
        for name, version in published["packages"].items()
        if record["packages"].get(name) != version and name not in IGNORED_PACKAGES
    ]
    if versions:
        yield f"package versions: {', '.join(versions)}"
    if current["code"] != job["code"]:
        yield f"the code of rule {job['rule']}, or the locked packages, changed"


def _find_record(root: Path, path: str) -> dict | None:
    """Return the record of the job that made `path`, which may be a file in a result folder; None without a record."""
    for part in (Path(path), *Path(path).parents):
        if (file := record_path(root / part, root)).is_file():
            return read_record(file)
    return None
