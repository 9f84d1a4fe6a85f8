"""Gather one checkpoint's results."""

from heuristic_core.experiments.subnetworks.jobs.gather import gather_checkpoint
from heuristic_core.jobs.job import job

main = job(gather_checkpoint, __name__)
