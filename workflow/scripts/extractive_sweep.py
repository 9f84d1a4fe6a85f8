"""Teach the facts of both hops with several learning rates, and rank answers after several numbers of epochs."""

from heuristic_core.experiments.extractive_structures.jobs.sweep import sweep_settings
from heuristic_core.jobs.job import job

main = job(sweep_settings, __name__)
