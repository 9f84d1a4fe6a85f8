"""Measure how accuracies spread over seeds."""

from heuristic_core.experiments.subnetworks.jobs.spread import measure_spread
from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import run_with_record

main = job(measure_spread)

if __name__ == "__main__":
    run_with_record(main)
