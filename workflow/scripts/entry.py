"""Find when heads enter the subnetworks of one fine-tuning run."""

from heuristic_core.experiments.subnetworks.jobs.entry import find_entries
from heuristic_core.jobs.job import job

main = job(find_entries, __name__)
