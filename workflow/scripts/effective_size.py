"""Compute the effective size of every checkpoint."""

from heuristic_core.experiments.subnetworks.jobs.effective_size import measure_effective_size
from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import run_with_record

main = job(measure_effective_size)

if __name__ == "__main__":
    run_with_record(main)
