"""Compute CPR and CMD of every checkpoint."""

from heuristic_core.experiments.subnetworks.jobs.circuit_performance import measure_circuit_performance
from heuristic_core.jobs.job import job

main = job(measure_circuit_performance, __name__)
