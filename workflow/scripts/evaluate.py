"""Predict every evaluation pair with one subnetwork."""

from heuristic_core.experiments.subnetworks.jobs.evaluate import evaluate_subnetwork
from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import run_with_record

main = job(evaluate_subnetwork)

if __name__ == "__main__":
    run_with_record(main)
