"""Compute the effective size of every checkpoint."""

from heuristic_core.experiments.subnetworks.jobs.effective_size import measure_effective_size
from heuristic_core.jobs.job import job

main = job(measure_effective_size, __name__)
