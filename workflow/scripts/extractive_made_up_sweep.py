"""Rank answers after orders and grafts of made-up facts with several learning rates and numbers of epochs."""

from heuristic_core.experiments.extractive_structures.jobs.made_up_sweep import sweep_made_up_facts
from heuristic_core.jobs.job import job

main = job(sweep_made_up_facts, __name__)
