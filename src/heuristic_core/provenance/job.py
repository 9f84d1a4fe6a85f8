"""A job that leaves a record, as a dry run lists it, and what is other than its record says."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from heuristic_core.plan.jobs import Listed, dry_run
from heuristic_core.provenance.record import files_of, named, settings, study_and_job

MAX_SHOWN = 60  # characters of a value that are shown


@dataclass(frozen=True)
class Job:
    """One job with a record. script: its name. arguments: its command line. inputs, outputs: paths as it gives them.

    What a job waits for without reading it is not on its command line, and no input.
    """

    script: str
    arguments: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    @property
    def name(self) -> str:
        """Of its log below the study's logs."""
        return study_and_job(self._option("--log"))[1]

    @property
    def root(self) -> Path:
        """The study's folder."""
        return study_and_job(self._option("--log"))[0]

    @property
    def code(self) -> str:
        """Digest of its code."""
        return self._option("--code")

    @property
    def settings(self) -> dict:
        """Settings on its command line, by option."""
        return settings(self.arguments, {*self.inputs, *self.outputs})

    def _option(self, option: str) -> str:
        return self.arguments[self.arguments.index(option) + 1]


class Since(NamedTuple):
    """What changed since a job's record was written.

    settings: a line for each, as `prune.learning_rate 0.2 -> 0.3`. code: whether it is other code. inputs: files with
    other bytes, by their names in the record; gone, added: files that are no longer read, or were not read.
    """

    settings: list[str]
    code: bool
    inputs: list[str]
    gone: list[str]
    added: list[str]


def recorded_job(listed: Listed) -> Job | None:
    """The job, if it leaves a record."""
    words = listed.words
    if "--code" not in words:
        return None
    return Job(words[1], tuple(words[2:]), tuple(p for p in listed.inputs if p in words), tuple(listed.outputs))


def expected_jobs(snakefile: Path, configfiles: Sequence[str]) -> list[Job]:
    """All jobs of a configuration that leave a record. Raises InputError with Snakemake's words where it refuses."""
    jobs = map(recorded_job, dry_run(snakefile, configfiles, "--forceall"))
    return [job for job in jobs if job is not None]


def since(record: dict, job: Job, sha: Callable[[str], str]) -> Since:
    """What changed since `record` was written by `job`. sha: SHA-256 of a file."""
    inputs, sources = named({file: sha(file) for path in job.inputs for file in files_of(path)}, job.root)
    now, before = inputs | sources, record["inputs"] | record["sources"]
    return Since(
        list(compared("", record["settings"], job.settings)),
        record["code"] != job.code,
        sorted(name for name in now.keys() & before.keys() if now[name] != before[name]),
        sorted(before.keys() - now.keys()),
        sorted(now.keys() - before.keys()),
    )


def compared(name: str, before: dict, now: dict) -> Iterator[str]:
    """What differs between two nested settings called `name`, a line for each."""
    for key in [*now, *(key for key in before if key not in now)]:
        path = f"{name}.{key}" if name not in ("", "settings") else key  # `settings` is the configuration itself
        if key not in now:
            yield f"{path} removed"
        elif key not in before:
            yield f"{path} added"
        elif isinstance(before[key], dict) and isinstance(now[key], dict):
            yield from compared(path, before[key], now[key])
        elif before[key] != now[key]:
            yield f"{path} {_shorten(before[key])} -> {_shorten(now[key])}"


def _shorten(value) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 3]}..."
