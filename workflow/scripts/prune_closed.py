"""Find subnetworks of a checkpoint with heads closed."""

from heuristic_core.experiments.subnetworks.jobs.prune_closed import find_core_free_subnetworks
from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import run_with_record

main = job(find_core_free_subnetworks)

if __name__ == "__main__":
    run_with_record(main)
