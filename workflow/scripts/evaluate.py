"""Predict every evaluation pair with one subnetwork."""

from heuristic_core.experiments.subnetworks.jobs.evaluate import evaluate_subnetwork
from heuristic_core.jobs.job import job

main = job(evaluate_subnetwork, __name__)
