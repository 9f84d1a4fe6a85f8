"""Average accuracy over groups of subsets."""

from heuristic_core.experiments.subnetworks.jobs.group_accuracy import average_groups
from heuristic_core.jobs.job import job

main = job(average_groups, __name__)
