"""Find the minimal pair of every evaluation pair."""

from heuristic_core.experiments.subnetworks.jobs.minimal_pairs import find_minimal_pairs
from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import run_with_record

main = job(find_minimal_pairs)

if __name__ == "__main__":
    run_with_record(main)
