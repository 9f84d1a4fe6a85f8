"""Measure what ablating heads costs."""

from heuristic_core.experiments.subnetworks.jobs.ablations import measure_ablations
from heuristic_core.jobs.job import job

main = job(measure_ablations, __name__)
