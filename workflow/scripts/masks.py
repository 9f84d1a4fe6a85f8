"""Evaluate random subnetworks that contain the core."""

from heuristic_core.experiments.subnetworks.jobs.masks import evaluate_random_masks
from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import run_with_record

main = job(evaluate_random_masks)

if __name__ == "__main__":
    run_with_record(main)
