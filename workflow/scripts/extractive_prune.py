"""Find the components that answers need, by hop and part of the questions, and compare scores across relations."""

from heuristic_core.experiments.extractive_structures.jobs.prune import find_subnetworks
from heuristic_core.jobs.job import job

main = job(find_subnetworks, __name__)
