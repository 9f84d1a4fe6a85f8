"""Predict with subnetworks that were not learned."""

from heuristic_core.experiments.heuristic_core.jobs.controls import evaluate_controls
from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import recorded

main = job(evaluate_controls)

if __name__ == "__main__":
    recorded(main)
