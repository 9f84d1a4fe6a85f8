"""Teach facts of made-up words and their implications in several orders; graft and localise what is learned."""

from heuristic_core.experiments.extractive_structures.jobs.order import teach_orders
from heuristic_core.jobs.job import job

main = job(teach_orders, __name__)
