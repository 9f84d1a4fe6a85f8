"""Causes of the jobs of a dry run, from the records of existing results."""

import os
from collections.abc import Callable, Collection, Iterator, Mapping

from heuristic_core.common.errors import InputError
from heuristic_core.plan.jobs import PlannedJob
from heuristic_core.provenance.job import Job, compare_with_record, parse_recorded_job
from heuristic_core.provenance.record import read_record, record_path

Code = Callable[[Job, dict], list[str]]  # (job, record) -> lines on what changed in the job's code since the record
Digest = Callable[[str], str]  # path -> SHA-256 of the file


def find_causes(
    listed: PlannedJob, pending: Collection[str], code: Code, sha: Digest, keys: Mapping[str, str] | None = None
) -> list[str]:
    """Return why a job would run, apart from other jobs that would run before it.

    Args:
        listed: The job.
        pending: Paths of the results of all jobs that would run. A job that reads one of these has no further causes.
        code: Function that describes changes of the job's code.
        sha: Function that returns the SHA-256 of a file.
        keys: Name of a setting on command lines -> its key in the configuration, where they differ.

    Returns:
        One line per cause; Snakemake's reason if records show none; empty if the job only follows from other jobs.
    """
    if not all(map(os.path.exists, listed.outputs)):
        return ["no result yet"]
    if not pending.isdisjoint(listed.inputs):
        return []
    job = parse_recorded_job(listed)
    if job is None:
        return [listed.reason]
    file = record_path(job.outputs[0], job.root)
    if not file.exists():
        return ["no record: the job was interrupted, or a version without records ran it"]
    try:
        record = read_record(file)
    except InputError as error:
        return [str(error)]
    return list(dict.fromkeys(_iter_causes(job, record, code, sha, keys or {}))) or [listed.reason]


def _iter_causes(job: Job, record: dict, code: Code, sha: Digest, keys: Mapping[str, str]) -> Iterator[str]:
    """Yield one line for each change since a record was written."""
    changes = compare_with_record(record, job, sha)
    yield from (f"input changed: {name}" for name in changes.inputs)
    if changes.removed or changes.added:
        yield "list of input files changed"
    yield from (f"setting changed: {_use_config_key(line, keys)}" for line in changes.settings)
    if changes.code:
        yield from (f"code changed: {line}" for line in code(job, record))


def _use_config_key(line: str, keys: Mapping[str, str]) -> str:
    """Replace the name of a setting at the beginning of a line by its key in the configuration."""
    for name, key in keys.items():
        if line.startswith((f"{name}.", f"{name} ")):
            return f"{key}{line.removeprefix(name)}".removeprefix(".")
    return line
