"""Compute what every pruning run of a checkpoint shares."""

from heuristic_core.experiments.subnetworks.jobs.full_model import evaluate_full_model
from heuristic_core.jobs.job import job

main = job(evaluate_full_model, __name__)
