"""Recompute jobs in a temporary folder and compare their results."""

import math
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from heuristic_core.common.arithmetic import PORTABLE, supports_portable
from heuristic_core.provenance.audit.comparing import find_difference
from heuristic_core.provenance.audit.finding import Finding
from heuristic_core.provenance.digests import package_versions
from heuristic_core.provenance.job import Job
from heuristic_core.provenance.record import DEPENDS_ON, processor_name, read_record, record_path, result_files

_STUDY_FOLDER = ".audited"  # replaces the study's folder
_DEPTH = 8  # folders between the temporary folder and the working directory, so that inputs at ../../x stay inside


@dataclass(frozen=True)
class Recomputation:
    """A recomputed job. Attributes are keys of audit.json.

    Attributes:
        job: Name of the job.
        seconds: Run time.
        exact: Whether results had to be the same byte for byte.
        faults: Path of a result -> how it differs.
    """

    job: str
    seconds: float
    exact: bool
    faults: dict[str, str]


def select_recomputable(jobs: Iterable[Job], findings: Iterable[Finding]) -> list[Job]:
    """Return jobs that can be recomputed.

    Args:
        jobs: Jobs whose results exist.
        findings: Findings of the audit so far.

    Returns:
        Jobs without findings on their inputs and results, whose results depend on neither run nor network.
    """
    faulty = {finding.path for finding in findings}

    def sound(path: str, root: Path) -> bool:
        return not faulty & {path, str(record_path(path, root)), *result_files(path)}

    return [
        job
        for job in jobs
        if DEPENDS_ON not in job.settings and all(sound(path, job.root) for path in (*job.inputs, *job.outputs))
    ]


def sample_jobs(jobs: Sequence[Job], count: int | None, share: float, seed: int) -> list[Job]:
    """Draw jobs to recompute.

    Args:
        jobs: Jobs to choose from.
        count: Number of jobs; None to use `share`.
        share: Fraction of the jobs, rounded up.
        seed: Seed of the draw.

    Returns:
        Jobs sorted by name.
    """
    size = math.ceil(len(jobs) * share) if count is None else min(count, len(jobs))
    sampled_jobs = random.Random(seed).sample(sorted(jobs, key=lambda job: job.name), size)
    return sorted(sampled_jobs, key=lambda job: job.name)


def recompute(job: Job, scripts: Path) -> Recomputation:
    """Recompute a job from links to its inputs and compare its results.

    Args:
        job: The job.
        scripts: Folder of the workflow's scripts.
    """
    record = read_record(record_path(job.outputs[0], job.root))
    exact = _requires_same_bytes(record)
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="heuristic-core-audit-") as folder:
        working_dir = Path(folder, *["_"] * _DEPTH)
        working_dir.mkdir(parents=True)
        for path in os.listdir():  # a job may read data in the working directory that are not among its inputs
            working_dir.joinpath(path).symlink_to(os.path.abspath(path))
        for path in job.inputs:
            link = Path(os.path.normpath(working_dir / _relocate(path, job.root)))
            if link.is_relative_to(folder) and not link.exists():
                link.parent.mkdir(parents=True, exist_ok=True)
                link.symlink_to(os.path.abspath(path))
        arguments = [_relocate(argument, job.root) for argument in job.arguments[: job.arguments.index("--code")]]
        command = [
            sys.executable,
            str(scripts.parent / "fork_server" / "watch.py"),
            str(scripts / f"{job.script}.py"),
            *arguments,
        ]
        process = subprocess.run(command, cwd=working_dir, capture_output=True, text=True)
        if process.returncode:
            faults = {job.outputs[0]: f"recomputation failed: {process.stderr.strip()[-500:]}"}
        else:
            files = [file for path in job.outputs for file in result_files(path)]
            recomputed = {file: working_dir / _relocate(file, job.root) for file in files}
            differences = {file: find_difference(Path(file), recomputed[file], exact) for file in files}
            faults = {file: fault for file, fault in differences.items() if fault}
    return Recomputation(job.name, time.monotonic() - started, exact, faults)


def _relocate(path: str, root: Path) -> str:
    """Return a path in the study's folder `root` as a path in the temporary copy; other paths unchanged."""
    return f"{_STUDY_FOLDER}/{os.path.relpath(path, root)}" if Path(path).is_relative_to(root) else path


def _requires_same_bytes(record: dict) -> bool:
    """Return whether a job must give the same bytes here.

    It must with the same packages, on a CPU of the same model or in portable arithmetic.
    """
    is_portable = record["arithmetic"] == PORTABLE and supports_portable()
    has_same_cpu = record["device"] == "cpu" and record["processor"] == processor_name("cpu")
    return record["packages"] == package_versions() and (is_portable or has_same_cpu)
