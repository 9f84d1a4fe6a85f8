"""Measure every checkpoint of the models of one condition: losses, circuits of heads, and ablations."""

from heuristic_core.experiments.list_sorting.jobs.measure import measure_models
from heuristic_core.jobs.job import job

main = job(measure_models, __name__)
