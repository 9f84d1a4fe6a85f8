"""Predict every evaluation pair with one subnetwork."""

from heuristic_core.experiments.heuristic_core.jobs.evaluate import evaluate_subnetwork
from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import recorded

main = job(evaluate_subnetwork)

if __name__ == "__main__":
    recorded(main)
