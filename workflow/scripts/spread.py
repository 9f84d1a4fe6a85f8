"""Measure how accuracies spread over seeds."""

from heuristic_core.experiments.subnetworks.jobs.spread import measure_spread
from heuristic_core.jobs.job import job

main = job(measure_spread, __name__)
