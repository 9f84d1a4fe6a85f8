"""Predict with subnetworks that were not learned."""

from heuristic_core.experiments.subnetworks.jobs.controls import evaluate_controls
from heuristic_core.jobs.job import job

main = job(evaluate_controls, __name__)
