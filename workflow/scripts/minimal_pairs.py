"""Find the minimal pair of every evaluation pair."""

from heuristic_core.experiments.subnetworks.jobs.minimal_pairs import find_minimal_pairs
from heuristic_core.jobs.job import job

main = job(find_minimal_pairs, __name__)
