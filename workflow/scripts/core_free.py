"""Evaluate subnetworks without the core."""

from heuristic_core.experiments.subnetworks.jobs.core_free import evaluate_core_free_subnetworks
from heuristic_core.jobs.job import job

main = job(evaluate_core_free_subnetworks, __name__)
