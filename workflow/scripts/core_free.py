"""Evaluate subnetworks without the core."""

from heuristic_core.experiments.subnetworks.jobs.core_free import evaluate_core_free_subnetworks
from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import run_with_record

main = job(evaluate_core_free_subnetworks)

if __name__ == "__main__":
    run_with_record(main)
