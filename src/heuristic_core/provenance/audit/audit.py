"""One audit of one study: all checks, a sample computed again, and both as JSON and as a page."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from heuristic_core.common.atomic import write_text
from heuristic_core.common.progress import Progress
from heuristic_core.provenance.audit.check import check, made
from heuristic_core.provenance.audit.finding import KINDS, Finding
from heuristic_core.provenance.audit.recompute import Again, again, computable, sample
from heuristic_core.provenance.audit.same import ABSOLUTE, RELATIVE
from heuristic_core.provenance.digests import commit, versions
from heuristic_core.provenance.job import Job
from heuristic_core.provenance.record import files_of, processor
from heuristic_core.report.render import render


@dataclass(frozen=True)
class Audit:
    """The results of an audit. Attributes are keys of audit.json, and names in its template.

    Attributes:
        root: Folder of the study.
        jobs: Number of jobs of the configuration.
        made: Number of jobs that have all their results.
        able: Number of jobs that could be computed again.
        files: Number of results hashed.
        seed: Seed of the sample `again`.
        findings: Findings, causes first.
        again: Jobs that were computed again.
    """

    root: Path
    jobs: int
    made: int
    able: int
    files: int
    seed: int
    findings: tuple[Finding, ...]
    again: tuple[Again, ...]

    @property
    def counts(self) -> dict[str, int]:
        """Findings by kind, for kinds that there are."""
        counter = Counter(finding.kind for finding in self.findings)
        return {kind: counter[kind] for kind in KINDS if counter[kind]}


def audit(root: Path, jobs: Sequence[Job], scripts: Path, count: int | None, share: float, seed: int) -> Audit:
    """Check the study in `root` against `jobs`; compute `count` or a `share` of the sound ones again by `scripts`."""
    findings = check(root, jobs)
    done = [job for job in jobs if made(root, job)]
    able = computable(done, findings)
    chosen = sample(able, count, share, seed)
    progress, results = Progress("computing again", len(chosen), unit="jobs"), []
    for job in chosen:
        results.append(again(job, scripts))
        progress.at(len(results))
    findings += [Finding("irreproducible", path, why) for result in results for path, why in result.faults.items()]
    files = sum(len(files_of(path)) for job in done for path in job.outputs)
    return Audit(root, len(jobs), len(done), len(able), files, seed, tuple(findings), tuple(results))


def write(found: Audit) -> None:
    """Write `audit.json` and `audit.html` into the study's folder."""
    made_with = {"python and packages": versions(), "commit": str(commit()), "processor": processor("cpu")}
    tolerance = {"absolute": ABSOLUTE, "relative": RELATIVE}
    text = asdict(found) | {
        "root": found.root.name,
        "counts": found.counts,
        "tolerance": tolerance,
        "made_with": made_with,
    }
    write_text(found.root / "audit.json", json.dumps(text, indent=1) + "\n")
    page = render(
        "audit.html.j2",
        **{key: value for key, value in vars(found).items() if key != "root"},
        study=found.root.name,
        counts=found.counts,
        kinds=KINDS,
        absolute=ABSOLUTE,
        relative=RELATIVE,
        versions={**versions(), "processor": made_with["processor"], "commit": made_with["commit"]},
    )
    write_text(found.root / "audit.html", page)
