"""Measure what ablating heads costs."""

from heuristic_core.experiments.subnetworks.jobs.ablations import measure_ablations
from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import run_with_record

main = job(measure_ablations)

if __name__ == "__main__":
    run_with_record(main)
