"""Tell why jobs would run: what changed since the results were made."""

from functools import partial
from pathlib import Path

from heuristic_core.jobs.arguments import Arguments
from heuristic_core.plan.jobs import counted, dry_run
from heuristic_core.provenance.changes.code import changed_code
from heuristic_core.provenance.changes.dryrun import planned_jobs
from heuristic_core.provenance.changes.explain import explain
from heuristic_core.provenance.record import recorded

CHECKOUT = Path(__file__).parents[2]


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.add_argument("--configfile", nargs="+", required=True, metavar="FILE", help="as Snakemake's own")
    args = parser.read(arguments)
    text = dry_run(CHECKOUT / "Snakefile", args.configfile, "--printshellcmds")
    jobs = planned_jobs(text)
    if len(jobs) != counted(text).total():
        raise RuntimeError(f"of {counted(text).total()} jobs that Snakemake would run only {len(jobs)} can be read")
    print(explain(jobs, partial(changed_code, CHECKOUT)))


if __name__ == "__main__":
    recorded(main)
