"""Check a study's results against their records and its configuration, and compute some of them again.

Writes audit.html and audit.json into the study's folder; ends with exit code 1 if anything was found.
"""

import argparse
import sys
from itertools import groupby
from pathlib import Path

from heuristic_core.common.errors import InputError
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
        "--sample", type=how_many, default="5", metavar="N", help="jobs to compute again, such as 5 or 2%%; default: 5"
    )
    parser.add_argument("--seed", type=int, default=0, help="of that sample; default: 0")
    args = parser.parse(arguments)
    count, share = args.sample
    jobs = sorted(list_recorded_jobs(SNAKEFILE, args.configfile), key=lambda job: str(job.root))
    sound = True
    for root, of_study in groupby(jobs, key=lambda job: job.root):
        if not root.exists():
            raise InputError(f"{root}: there are no results to audit; run the study first")
        result = audit_study(root, list(of_study), Path(__file__).parent, count, share, args.seed)
        write_audit(result)
        tell(result)
        sound = sound and not result.findings
    if not sound:
        sys.exit(1)


def how_many(text: str) -> tuple[int | None, float]:
    """A count, or a share where `text` ends with %."""
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


def tell(result: Audit) -> None:
    """The outcome on the terminal."""
    for item in result.findings:
        print(f"{item.kind}: {item.path}: {item.detail}")
    for kind in result.counts:
        print(f"{kind}: {KINDS[kind]}")
    counts = ", ".join(f"{count} {kind}" for kind, count in result.counts.items())
    print(
        f"{result.root}: {result.made} of {result.jobs} jobs made, {result.files} files checked, "
        f"{len(result.again)} jobs computed again: {counts or 'nothing found'}. {result.root}/audit.html has all of it."
    )


if __name__ == "__main__":
    run_with_record(main)
