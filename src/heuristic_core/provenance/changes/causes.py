"""Why the jobs of a dry run would run: what they would do against the records of the results that are there."""

import os
from collections.abc import Callable, Collection, Iterator, Mapping

from heuristic_core.common.errors import InputError
from heuristic_core.plan.jobs import Listed
from heuristic_core.provenance.job import Job, recorded_job, since
from heuristic_core.provenance.record import read_record, record_of

Code = Callable[[Job, dict], list[str]]  # what of a job's code changed since its record was written
Digest = Callable[[str], str]  # SHA-256 of a file


def causes(
    listed: Listed, made: Collection[str], code: Code, sha: Digest, keys: Mapping[str, str] | None = None
) -> list[str]:
    """Why a job would run of its own, a line for each cause; none where it follows from other jobs.

    made: the results of all jobs that would run. A job that reads one of these is asked for no further causes.
    keys: of settings that jobs have by another name than the configuration has -> its key there.
    Where no record tells, the cause is what Snakemake says.
    """
    if not all(map(os.path.exists, listed.outputs)):
        return ["no result yet"]
    if not made.isdisjoint(listed.inputs):
        return []
    job = recorded_job(listed)
    if job is None:
        return [listed.reason]
    file = record_of(job.outputs[0], job.root)
    if not file.exists():
        return ["was cut off, or is of a version without records"]
    try:
        record = read_record(file)
    except InputError as fault:
        return [str(fault)]
    return list(dict.fromkeys(_changes(job, record, code, sha, keys or {}))) or [listed.reason]


def _changes(job: Job, record: dict, code: Code, sha: Digest, keys: Mapping[str, str]) -> Iterator[str]:
    changes = since(record, job, sha)
    yield from (f"input changed: {name}" for name in changes.inputs)
    if changes.gone or changes.added:
        yield "other input files than before"
    yield from (f"setting changed: {_config_key(line, keys)}" for line in changes.settings)
    if changes.code:
        yield from (f"code changed: {line}" for line in code(job, record))


def _config_key(line: str, keys: Mapping[str, str]) -> str:
    """What is said of a setting, with its key in the configuration."""
    for name, key in keys.items():
        if line.startswith((f"{name}.", f"{name} ")):
            return f"{key}{line.removeprefix(name)}".removeprefix(".")
    return line
