"""Evaluate random subnetworks that contain the core."""

from heuristic_core.experiments.subnetworks.jobs.masks import evaluate_random_masks
from heuristic_core.jobs.job import job

main = job(evaluate_random_masks, __name__)
