"""The jobs that a configuration asks for, as Snakemake's dry run lists them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from heuristic_core.plan.jobs import dry_run
from heuristic_core.provenance.record import settings, study_and_job


@dataclass(frozen=True)
class Job:
    """One job with a record. script: its name. arguments: its command line. inputs, outputs: paths as it gives them."""

    script: str
    arguments: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    @property
    def name(self) -> str:
        """Of its log below the study's logs."""
        return study_and_job(self._of("--log"))[1]

    @property
    def root(self) -> Path:
        """The study's folder."""
        return study_and_job(self._of("--log"))[0]

    @property
    def code(self) -> str:
        return self._of("--code")

    @property
    def settings(self) -> dict:
        return settings(self.arguments, {*self.inputs, *self.outputs})

    def _of(self, option: str) -> str:
        return self.arguments[self.arguments.index(option) + 1]


def expected_jobs(snakefile: Path, configfiles: Sequence[str]) -> list[Job]:
    """All jobs of a configuration that leave a record. Raises InputError with Snakemake's words where it refuses."""
    listed = [(job, job.words) for job in dry_run(snakefile, configfiles, "--forceall")]
    return [
        Job(words[1], tuple(words[2:]), tuple(job.inputs), tuple(job.outputs))
        for job, words in listed
        if "--code" in words
    ]
