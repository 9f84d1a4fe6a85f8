"""Predict every evaluation pair with subnetworks."""

from heuristic_core.experiments.subnetworks.jobs.evaluate import evaluate_subnetworks
from heuristic_core.jobs.job import job

main = job(evaluate_subnetworks, __name__)
