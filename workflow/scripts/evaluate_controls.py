"""Predict with subnetworks that were not learned."""

from heuristic_core.experiments.subnetworks.jobs.controls import evaluate_controls
from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import run_with_record

main = job(evaluate_controls)

if __name__ == "__main__":
    run_with_record(main)
