"""Jobs computed again in a scratch folder, and compared with what they gave."""

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

from heuristic_core.common.arithmetic import PORTABLE, available
from heuristic_core.provenance.audit.finding import Finding
from heuristic_core.provenance.audit.same import difference
from heuristic_core.provenance.digests import versions
from heuristic_core.provenance.job import Job
from heuristic_core.provenance.record import DEPENDS_ON, files_of, processor, read_record, record_of

STUDY_FOLDER = ".audited"  # in the place of the study's folder
DEPTH = 8  # folders between the scratch folder and a job's working directory: inputs at ../../x stay inside


@dataclass(frozen=True)
class Again:
    """One job computed again. exact: every byte had to be the same. faults: what differs, by result."""

    job: str
    seconds: float
    exact: bool
    faults: dict[str, str]


def computable(jobs: Iterable[Job], findings: Iterable[Finding]) -> list[Job]:
    """Those of the jobs whose results tell of themselves alone, and that no finding is about."""
    faulty = {finding.path for finding in findings}

    def sound(path: str, root: Path) -> bool:
        return not faulty & {path, str(record_of(path, root)), *files_of(path)}

    return [
        job
        for job in jobs
        if DEPENDS_ON not in job.settings and all(sound(path, job.root) for path in (*job.inputs, *job.outputs))
    ]


def sample(jobs: Sequence[Job], count: int | None, share: float, seed: int) -> list[Job]:
    """Some of the jobs, drawn by `seed`: `count` of them, or else that share, rounded up."""
    wanted = math.ceil(len(jobs) * share) if count is None else min(count, len(jobs))
    drawn = random.Random(seed).sample(sorted(jobs, key=lambda job: job.name), wanted)
    return sorted(drawn, key=lambda job: job.name)


def again(job: Job, scripts: Path) -> Again:
    """Compute a job again, on links to its inputs, and compare."""
    record = read_record(record_of(job.outputs[0], job.root))
    exact = comparable(record)
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="heuristic-core-audit-") as folder:
        here = Path(folder, *["_"] * DEPTH)
        here.mkdir(parents=True)
        for path in os.listdir():  # data that are in the working directory, and that a job may find there by itself
            here.joinpath(path).symlink_to(os.path.abspath(path))
        for path in job.inputs:
            link = Path(os.path.normpath(here / _relocate(path, job.root)))
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
        done = subprocess.run(command, cwd=here, capture_output=True, text=True)
        if done.returncode:
            faults = {job.outputs[0]: f"could not be computed again: {done.stderr.strip()[-500:]}"}
        else:
            files = [file for path in job.outputs for file in files_of(path)]
            differences = {file: difference(Path(file), here / _relocate(file, job.root), exact) for file in files}
            faults = {file: fault for file, fault in differences.items() if fault}
    return Again(job.name, time.monotonic() - started, exact, faults)


def _relocate(path: str, root: Path) -> str:
    """A path of the study as one below the working directory, wherever the study's folder `root` is."""
    return f"{STUDY_FOLDER}/{os.path.relpath(path, root)}" if Path(path).is_relative_to(root) else path


def comparable(record: dict) -> bool:
    """Return whether a job must reproduce every byte here.

    It must with the same packages, on a CPU of the same model or in portable arithmetic.
    """
    anywhere = record["arithmetic"] == PORTABLE and available()
    alike = record["device"] == "cpu" and record["processor"] == processor("cpu")
    return record["packages"] == versions() and (anywhere or alike)
