"""Teach a pre-trained model the facts of both hops, and measure its answers after every epoch."""

from heuristic_core.experiments.extractive_structures.jobs.teach import teach_facts
from heuristic_core.jobs.job import job

main = job(teach_facts, __name__)
