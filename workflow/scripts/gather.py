"""Gather one checkpoint's results."""

from heuristic_core.experiments.subnetworks.jobs.gather import gather_checkpoint
from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import run_with_record

main = job(gather_checkpoint)

if __name__ == "__main__":
    run_with_record(main)
