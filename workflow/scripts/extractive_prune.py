"""Find the components that answers need, by hop and part of the questions, and compare scores across relations."""

from heuristic_core.experiments.extractive_structures.jobs.prune import find_subnetworks
from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import run_with_record

main = job(find_subnetworks)

if __name__ == "__main__":
    run_with_record(main)
