"""Count the components that subnetworks of a model share, with their scores, and compare with chance."""

from heuristic_core.experiments.extractive_structures.jobs.core import find_core
from heuristic_core.jobs.job import job

main = job(find_core, __name__)
