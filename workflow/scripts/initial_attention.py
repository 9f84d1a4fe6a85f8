"""Find heads that attend to the repeated word before fine-tuning."""

from heuristic_core.experiments.subnetworks.jobs.attention import measure_initial_attention
from heuristic_core.jobs.job import job

main = job(measure_initial_attention, __name__)
