"""Jobs with records, as a dry run lists them, and what changed since a record was written."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from heuristic_core.plan.jobs import PlannedJob, dry_run
from heuristic_core.provenance.record import relative_digests, result_files, study_and_job
from heuristic_core.provenance.settings import extract_settings

_MAX_VALUE_LENGTH = 60  # characters of a value in a list of changes


@dataclass(frozen=True)
class Job:
    """One job with a record.

    Attributes:
        script: Name of the script.
        arguments: Command line of the job.
        inputs: Paths on the command line that the job reads. Files that it only waits for are not among them.
        outputs: Paths of its results.
    """

    script: str
    arguments: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    @property
    def name(self) -> str:
        """Name of the job: path of its log in the study's folder of logs, without `.log`."""
        return study_and_job(self._option("--log"))[1]

    @property
    def root(self) -> Path:
        """Folder of the study."""
        return study_and_job(self._option("--log"))[0]

    @property
    def code(self) -> str:
        """Digest of its code."""
        return self._option("--code")

    @property
    def settings(self) -> dict:
        """Settings on its command line: option -> value."""
        return extract_settings(self.arguments, {*self.inputs, *self.outputs})

    def _option(self, option: str) -> str:
        """Return the value of an option on the command line."""
        return self.arguments[self.arguments.index(option) + 1]


class Changes(NamedTuple):
    """What changed since a job's record was written.

    Attributes:
        settings: One line per change, such as `prune.learning_rate 0.2 -> 0.3`.
        code: Whether the digest of the code changed.
        inputs: Input files whose content changed, by their names in the record.
        removed: Input files that are no longer read.
        added: Input files that were not read before.
    """

    settings: list[str]
    code: bool
    inputs: list[str]
    removed: list[str]
    added: list[str]


def parse_recorded_job(listed: PlannedJob) -> Job | None:
    """Return the job with its command line parsed; None if it writes no record."""
    words = listed.argv
    if "--code" not in words:
        return None
    inputs = tuple(path for path in listed.inputs if path in words)
    return Job(words[1], tuple(words[2:]), inputs, tuple(listed.outputs))


def list_recorded_jobs(snakefile: Path, configfiles: Sequence[str]) -> list[Job]:
    """Return all jobs of a configuration that write a record.

    Args:
        snakefile: Path of the Snakefile.
        configfiles: Paths of the configuration files, which are merged.

    Raises:
        InputError: If Snakemake reports an error; the message quotes it.
    """
    jobs = map(parse_recorded_job, dry_run(snakefile, configfiles, "--forceall"))
    return [job for job in jobs if job is not None]


def compare_with_record(record: dict, job: Job, sha: Callable[[str], str]) -> Changes:
    """Compare a job with the record of its last run.

    Args:
        record: Record of the last run.
        job: The job as it would run now.
        sha: Function that returns the SHA-256 of a file.
    """
    inputs, sources = relative_digests(
        {file: sha(file) for path in job.inputs for file in result_files(path)}, job.root
    )
    now, before = inputs | sources, record["inputs"] | record["sources"]
    return Changes(
        list(iter_changes("", record["settings"], job.settings)),
        record["code"] != job.code,
        sorted(name for name in now.keys() & before.keys() if now[name] != before[name]),
        sorted(before.keys() - now.keys()),
        sorted(now.keys() - before.keys()),
    )


def iter_changes(name: str, before: dict, now: dict) -> Iterator[str]:
    """Yield a line for each difference between nested settings.

    Args:
        name: Dotted path of the settings; empty at the top.
        before: Settings of the last run.
        now: Settings of the next run.
    """
    for key in [*now, *(key for key in before if key not in now)]:
        path = f"{name}.{key}" if name not in ("", "settings") else key  # option `settings` is the whole configuration
        if key not in now:
            yield f"{path} removed"
        elif key not in before:
            yield f"{path} added"
        elif isinstance(before[key], dict) and isinstance(now[key], dict):
            yield from iter_changes(path, before[key], now[key])
        elif before[key] != now[key]:
            yield f"{path} {_shorten(before[key])} -> {_shorten(now[key])}"


def _shorten(value) -> str:
    """Return a value as text, cut to `_MAX_VALUE_LENGTH` characters."""
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= _MAX_VALUE_LENGTH else f"{text[: _MAX_VALUE_LENGTH - 3]}..."
