"""Check results against their records and the configuration, and recompute a random sample of jobs.

Writes audit.html and audit.json into the study's folder. Exits with status 1 if there are findings.
"""

import argparse
import sys
from itertools import groupby
from pathlib import Path

from heuristic_core.common.errors import InputError, format_count
from heuristic_core.jobs.arguments import JobParser
from heuristic_core.provenance.audit.audit import Audit, audit_study, write_audit
from heuristic_core.provenance.audit.finding import KINDS
from heuristic_core.provenance.job import list_recorded_jobs
from heuristic_core.provenance.record import run_with_record

SNAKEFILE = Path(__file__).parents[2] / "Snakefile"


def main(arguments=None):
    parser = JobParser(__doc__)
    parser.add_argument("--configfile", nargs="+", required=True, metavar="FILE", help="as Snakemake's own")
    parser.add_argument(
        "--sample", type=parse_sample, default="5", metavar="N", help="jobs to recompute, such as 5 or 2%%; default: 5"
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of the sample; default: 0")
    args = parser.parse(arguments)
    count, share = args.sample
    jobs = sorted(list_recorded_jobs(SNAKEFILE, args.configfile), key=lambda job: str(job.root))
    sound = True
    for root, study_jobs in groupby(jobs, key=lambda job: job.root):
        if not root.exists():
            raise InputError(f"{root}: no results to audit; run the study first")
        result = audit_study(root, list(study_jobs), Path(__file__).parent, count, share, args.seed)
        write_audit(result)
        print_outcome(result)
        sound = sound and not result.findings
    if not sound:
        sys.exit(1)


def parse_sample(text: str) -> tuple[int | None, float]:
    """Return the count (None if `text` ends with %) and the share of jobs to recompute."""
    number = text.removesuffix("%")
    if number.isdecimal() and text == number:
        return int(number), 0.0
    try:
        share = float(number) / 100
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1 or text == number:
        raise argparse.ArgumentTypeError(f"{text!r} is neither a count, such as 5, nor a share, such as 2%")
    return None, share


def print_outcome(result: Audit) -> None:
    """Print findings, remedies and counts."""
    for item in result.findings:
        print(f"{item.kind}: {item.path}: {item.detail}")
    for kind in result.counts:
        print(f"{kind}: {KINDS[kind]}")
    counts = ", ".join(f"{count} {kind}" for kind, count in result.counts.items())
    print(
        f"{result.root}: {result.complete:,} of {format_count(result.jobs, 'job')} made, "
        f"{format_count(result.files, 'file')} checked, "
        f"{format_count(len(result.recomputations), 'job')} recomputed: {counts or 'no findings'}. "
        f"Details: {result.root}/audit.html"
    )


if __name__ == "__main__":
    run_with_record(main)
