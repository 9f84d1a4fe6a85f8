"""Find subnetworks of a checkpoint, one for each sparsity and pruning seed."""

from heuristic_core.jobs.job import job
from heuristic_core.pruning.pruner import find_subnetworks

main = job(find_subnetworks, __name__)
