"""Explain why jobs would run: what has changed since their results were made."""

from functools import cache, partial
from pathlib import Path

from heuristic_core.common.hashing import file_digest
from heuristic_core.experiments.registry import load_experiments
from heuristic_core.jobs.arguments import JobParser
from heuristic_core.plan.jobs import dry_run
from heuristic_core.provenance.changes.causes import find_causes
from heuristic_core.provenance.changes.code import find_changed_code
from heuristic_core.provenance.changes.explain import explain_jobs
from heuristic_core.provenance.job import Job
from heuristic_core.provenance.record import run_with_record

CHECKOUT = Path(__file__).parents[2]


def list_drawing_modules(job: Job) -> list[Path]:
    """Return the modules that a job loads by name."""
    return [
        path for experiment in load_experiments() for path in experiment.list_drawing_modules(job.script, job.settings)
    ]


def main(arguments=None):
    parser = JobParser(__doc__)
    parser.add_argument("--configfile", nargs="+", required=True, metavar="FILE", help="as Snakemake's own")
    args = parser.parse(arguments)
    jobs = dry_run(CHECKOUT / "Snakefile", args.configfile)
    keys = {name: key for experiment in load_experiments() for name, key in experiment.setting_keys.items()}
    code = partial(find_changed_code, CHECKOUT, find_drawing_modules=list_drawing_modules)
    print(explain_jobs(jobs, partial(find_causes, code=code, sha=cache(file_digest), keys=keys)))


if __name__ == "__main__":
    run_with_record(main)
