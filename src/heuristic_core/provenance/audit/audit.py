"""Audit of a study: checks, recomputation of a sample of jobs, and the report on both as JSON and HTML."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from heuristic_core.common.atomic import write_text
from heuristic_core.common.progress import Progress
from heuristic_core.provenance.audit.check import check_study, is_complete
from heuristic_core.provenance.audit.comparing import ABSOLUTE_TOLERANCE, RELATIVE_TOLERANCE
from heuristic_core.provenance.audit.finding import KINDS, Finding
from heuristic_core.provenance.audit.recompute import Recomputation, recompute, sample_jobs, select_recomputable
from heuristic_core.provenance.digests import package_versions, read_commit
from heuristic_core.provenance.job import Job
from heuristic_core.provenance.record import processor_name, result_files
from heuristic_core.report.render import render

JSON_KEYS = {"complete": "made", "recomputable": "able"}  # attribute of an audit -> its key in audit.json


@dataclass(frozen=True)
class Audit:
    """The results of an audit. Attributes are names in the template, and keys of audit.json or in `JSON_KEYS`.

    Attributes:
        root: Folder of the study.
        jobs: Number of jobs of the configuration.
        complete: Number of jobs whose results and records all exist.
        recomputable: Number of jobs that can be recomputed.
        files: Number of results hashed.
        seed: Seed of the sample `recomputations`.
        findings: Findings, causes first.
        recomputations: Recomputed jobs.
    """

    root: Path
    jobs: int
    complete: int
    recomputable: int
    files: int
    seed: int
    findings: tuple[Finding, ...]
    recomputations: tuple[Recomputation, ...]

    @property
    def counts(self) -> dict[str, int]:
        """Number of findings by kind, without kinds that have none."""
        counter = Counter(finding.kind for finding in self.findings)
        return {kind: counter[kind] for kind in KINDS if counter[kind]}


def audit_study(root: Path, jobs: Sequence[Job], scripts: Path, count: int | None, share: float, seed: int) -> Audit:
    """Check a study, and recompute a sample of its jobs without findings.

    Args:
        root: Folder of the study.
        jobs: Jobs of its configuration.
        scripts: Folder of the workflow's scripts.
        count: Number of jobs to recompute; None to use `share`.
        share: Fraction of the jobs to recompute.
        seed: Seed of the sample.
    """
    findings = check_study(root, jobs)
    complete_jobs = [job for job in jobs if is_complete(root, job)]
    candidates = select_recomputable(complete_jobs, findings)
    sampled_jobs = sample_jobs(candidates, count, share, seed)
    progress, recomputations = Progress("recomputing", len(sampled_jobs), unit="jobs"), []
    for job in sampled_jobs:
        recomputations.append(recompute(job, scripts))
        progress.update(len(recomputations))
    faults = [(path, fault) for result in recomputations for path, fault in result.faults.items()]
    findings += [Finding("irreproducible", path, fault) for path, fault in faults]
    files = sum(len(result_files(path)) for job in complete_jobs for path in job.outputs)
    return Audit(
        root, len(jobs), len(complete_jobs), len(candidates), files, seed, tuple(findings), tuple(recomputations)
    )


def write_audit(result: Audit) -> None:
    """Write `audit.json` and `audit.html` into the study's folder."""
    made_with = {
        "python and packages": package_versions(),
        "commit": str(read_commit()),
        "processor": processor_name("cpu"),
    }
    tolerance = {"absolute": ABSOLUTE_TOLERANCE, "relative": RELATIVE_TOLERANCE}
    content = {JSON_KEYS.get(name, name): value for name, value in asdict(result).items()} | {
        "root": result.root.name,
        "counts": result.counts,
        "tolerance": tolerance,
        "made_with": made_with,
    }
    write_text(result.root / "audit.json", json.dumps(content, indent=1) + "\n")
    page = render(
        "audit.html.j2",
        **{key: value for key, value in vars(result).items() if key != "root"},
        study=result.root.name,
        counts=result.counts,
        kinds=KINDS,
        absolute=ABSOLUTE_TOLERANCE,
        relative=RELATIVE_TOLERANCE,
        versions={**package_versions(), "processor": made_with["processor"], "commit": made_with["commit"]},
    )
    write_text(result.root / "audit.html", page)
