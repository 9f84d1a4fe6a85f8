"""Measure where every head of a fine-tuned model attends."""

from heuristic_core.experiments.subnetworks.jobs.attention import measure_attention
from heuristic_core.jobs.job import job

main = job(measure_attention, __name__)
