"""Estimate what a run needs before it starts: jobs, work, time on a device, disk, memory."""

from pathlib import Path

from heuristic_core.config.reading import read_merged_configs
from heuristic_core.experiments.studies import read_studies
from heuristic_core.jobs.arguments import JobParser
from heuristic_core.plan.devices import get_device
from heuristic_core.plan.jobs import count_jobs, select_study
from heuristic_core.plan.text import format_left_out
from heuristic_core.provenance.record import run_with_record

SNAKEFILE = Path(__file__).parents[2] / "Snakefile"


def main(arguments=None):
    parser = JobParser(__doc__)
    parser.add_argument("--configfile", nargs="+", required=True, metavar="FILE", help="as Snakemake's own")
    parser.add_argument("--device", help="a device of plan/devices.yaml; default: cpu, or h100 for `device: cuda`")
    args = parser.parse(arguments)
    studies = read_studies(read_merged_configs(args.configfile), args.configfile[-1])
    if args.device:
        get_device(args.device)  # reject a wrong name before the slow dry runs
    all_jobs, missing_jobs = (count_jobs(SNAKEFILE, args.configfile, everything) for everything in (True, False))
    for prefix, configured in studies.items():
        jobs = (select_study(prefix, studies, counts) for counts in (all_jobs, missing_jobs))
        print(configured.experiment.plan(configured.study, args.device, *jobs), end="\n\n")
        print(format_left_out(configured.experiment.list_unavailable(configured.study)), end="\n\n")


if __name__ == "__main__":
    run_with_record(main)
