"""Ablate heads from the full model."""

from heuristic_core.experiments.subnetworks.jobs.ablate import ablate_heads
from heuristic_core.jobs.job import job

main = job(ablate_heads, __name__)
