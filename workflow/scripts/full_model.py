"""Compute what every pruning run of a checkpoint shares."""

from heuristic_core.experiments.subnetworks.jobs.full_model import evaluate_full_model
from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import run_with_record

main = job(evaluate_full_model)

if __name__ == "__main__":
    run_with_record(main)
