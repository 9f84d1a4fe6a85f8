"""Measure what later heads restore and transmit while the core is ablated."""

from heuristic_core.experiments.subnetworks.jobs.mediation import mediate
from heuristic_core.jobs.job import job

main = job(mediate, __name__)
