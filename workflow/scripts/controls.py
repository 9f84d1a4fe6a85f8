"""Compare learned subnetworks with random and gradient-importance ones."""

from heuristic_core.experiments.subnetworks.jobs.compare_controls import compare_with_controls
from heuristic_core.jobs.job import job

main = job(compare_with_controls, __name__)
