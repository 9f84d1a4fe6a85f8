"""Whether a study's results are byte for byte those that were published with the code, and if not, where and why.

The published digests of a study are one JSON file: its jobs in the order of the work, and of each the SHA-256 of every
result, and what it was made with. What tells of the run itself (records, logs, report) is no part of it.
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
from heuristic_core.provenance.record import DEPENDS_ON, RUN, processor, read_record, record_of, records

IGNORED_PACKAGES = (
    "heuristic-core",
    "snakemake",
)  # versions that no result depends on: the code has a digest of its own
DIGEST_LENGTH = 16  # of digests that are only compared with each other


class Difference(NamedTuple):
    """The first job, in the order of the work, with a result that is not the published one.

    rule: the script that it ran. result: path of the first such result. reason: why, as far as records tell.
    """

    rule: str
    job: str
    result: str
    reason: str


class Comparison(NamedTuple):
    """results: how many were published. differing, missing: how many of them are others here, or not there."""

    results: int
    differing: int
    missing: int
    first: Difference | None


def publish(root: Path, file: Path) -> int:
    """Write the digests of the finished study in folder `root` to `file`; how many results there are."""
    jobs = in_order([made for made in records(root) if made["settings"].get(DEPENDS_ON) != RUN])
    if not jobs:
        raise InputError(f"{root}: no results with records; run the study first")
    common = {name: jobs[0][name] for name in ("arithmetic", "packages")}
    if others := [made["job"] for made in jobs if any(made[name] != value for name, value in common.items())]:
        raise InputError(
            f"{root}: {others[0]} and {jobs[0]['job']} were made in another arithmetic or with other packages; remove "
            f"{root} and run the study again"
        )
    if changed := [path for made in jobs for path, sha in made["outputs"].items() if _digest(root / path) != sha]:
        raise InputError(f"{root / changed[0]} is not as its job made it; remove it and run the study again")
    jobs_json = [{"job": made["job"], "rule": made["script"]} | _made_with(made) | _results(made) for made in jobs]
    write_text(file, json.dumps({"study": root.name, **common, "jobs": jobs_json}, indent=0) + "\n")
    return sum(len(job["results"]) for job in jobs_json)


def compare(root: Path, file: Path) -> Comparison:
    """Compare the results in folder `root` with the digests in `file`."""
    published = read(file)
    results = differing = missing = 0
    first = None
    for job in published["jobs"]:
        for path, sha in job["results"].items():
            digest = _digest(root / path)
            results, missing, differing = (
                results + 1,
                missing + (digest is None),
                differing + (digest not in (None, sha)),
            )
            if digest != sha and first is None:
                first = Difference(job["rule"], job["job"], path, _reason(root, path, digest, job, published))
    return Comparison(results, differing, missing, first)


def read(file: Path) -> dict:
    """The published digests. Raises InputError, naming the file, where it has none."""
    try:
        published = json.loads(file.read_text())
        if missing := {"study", "arithmetic", "packages", "jobs"} - published.keys():
            raise ValueError(f"it lacks {', '.join(sorted(missing))}")
        return published
    except FileNotFoundError:
        raise InputError(
            f"{file}: no such file, so nothing was published of this study. To compare later runs with the results "
            "that are there now, write it: make expected CONFIG=<configuration>"
        ) from None
    except ValueError as error:
        raise InputError(f"{file} is damaged ({error}); restore it with git checkout -- {file}") from None


def told(root: Path, file: Path, comparison: Comparison) -> str:
    """The comparison in words."""
    if comparison.first is None:
        return f"{root}: all {comparison.results} results are byte for byte those of {file}"
    counts = f"{comparison.differing} differ" + (f", {comparison.missing} are missing" if comparison.missing else "")
    return (
        f"{root}: of {comparison.results} results in {file}, {counts}\n"
        f"  first in the order of the work: rule {comparison.first.rule}, job {comparison.first.job}: "
        f"{comparison.first.result}\n"
        f"  likely reason: {comparison.first.reason}"
    )


def in_order(jobs: list[dict]) -> list[dict]:
    """Records in the order of the work: a job after those whose results it reads, then by name."""
    makers = {path: made["job"] for made in jobs for path in made["outputs"]}
    before = {made["job"]: {makers[path] for path in made["inputs"] if path in makers} for made in jobs}

    @cache
    def depth(job: str) -> int:
        return 1 + max(map(depth, before[job]), default=0)

    return sorted(jobs, key=lambda made: (depth(made["job"]), made["job"]))


def _results(made: Mapping) -> dict:
    return {"results": dict(sorted(made["outputs"].items()))}


def _made_with(made: Mapping) -> dict:
    settings = hashlib.sha256(json.dumps(made["settings"], sort_keys=True).encode()).hexdigest()
    return {"settings": settings[:DIGEST_LENGTH], "code": made["code"], "sources": made["sources"]}


def _digest(path: Path) -> str | None:
    return file_digest(path) if path.is_file() else None


def _reason(root: Path, path: str, here: str | None, job: dict, published: dict) -> str:
    """Why the result `path`, with the digest `here`, is not the published one, though all before it is."""
    if here is None:
        return "it is not there; run the study to its end"
    if (made := _record(root, path)) is None:
        return "it has no record, so it was not made by this workflow here"
    if made["outputs"].get(path) != here:
        return f"it has changed since {made['script']} made it; remove it and run the study again"
    return "; ".join(_differences(made, job, published)) or (
        f"the processor ({processor('cpu')}) or the system's C library: arithmetic, settings, files, packages and code "
        "are the same. `pytest tests/test_arithmetic.py` names an operation that rounds differently here"
    )


def _differences(made: dict, job: dict, published: dict) -> Iterator[str]:
    """What the job of the record `made` worked with, and the published job did not."""
    current = _made_with(made)
    if made["arithmetic"] != published["arithmetic"]:
        yield f"arithmetic: it was computed in {made['arithmetic']}, the published one in {published['arithmetic']}"
    if current["settings"] != job["settings"]:
        yield "the configuration: this job had other settings"
    if others := sorted(name for name, sha in current["sources"].items() if job["sources"].get(name) != sha):
        yield f"files that it reads: {', '.join(others)}"
    versions = {
        name: f"{name} {published_version} -> {made['packages'].get(name)}"
        for name, published_version in published["packages"].items()
        if made["packages"].get(name) != published_version and name not in IGNORED_PACKAGES
    }
    if versions:
        yield f"versions of packages: {', '.join(versions.values())}"
    if current["code"] != job["code"]:
        yield f"the code of {job['rule']}, or the lock, has changed"


def _record(root: Path, path: str) -> dict | None:
    """The record of the job that made the result `path`, which may be a file of a folder."""
    for part in (Path(path), *Path(path).parents):
        if (file := record_of(root / part, root)).is_file():
            return read_record(file)
    return None
