"""Measure what heads add to random subnetworks."""

from heuristic_core.experiments.subnetworks.jobs.counter_heads import measure_head_effects
from heuristic_core.jobs.job import job

main = job(measure_head_effects, __name__)
