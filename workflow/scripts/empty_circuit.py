"""Compute the accuracy of a checkpoint's empty circuit."""

from heuristic_core.experiments.subnetworks.jobs.empty_circuit import evaluate_empty_circuit
from heuristic_core.jobs.job import job

main = job(evaluate_empty_circuit, __name__)
