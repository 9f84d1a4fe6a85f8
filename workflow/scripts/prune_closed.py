"""Find subnetworks of a checkpoint with heads closed."""

from heuristic_core.experiments.subnetworks.jobs.prune_closed import find_core_free_subnetworks
from heuristic_core.jobs.job import job

main = job(find_core_free_subnetworks, __name__)
