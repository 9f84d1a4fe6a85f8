"""Find subnetworks of a checkpoint at one sparsity, one for each pruning seed."""

from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import run_with_record
from heuristic_core.pruning.pruner import find_subnetworks

main = job(find_subnetworks)

if __name__ == "__main__":
    run_with_record(main)
