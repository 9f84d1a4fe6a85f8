"""Find subnetworks of a checkpoint at one sparsity, one for each pruning seed."""

from heuristic_core.jobs.job import job
from heuristic_core.pruning.pruner import find_subnetworks

main = job(find_subnetworks, __name__)
