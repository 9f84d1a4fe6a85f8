"""Measure which layers must learn a fact, by freezing layers or restoring their former weights."""

from heuristic_core.experiments.extractive_structures.jobs.freeze import freeze_layers
from heuristic_core.jobs.job import job

main = job(freeze_layers, __name__)
