"""Find the effective size of list-sorting models over training, and the halves that all learned subsets keep."""

from heuristic_core.experiments.list_sorting.jobs.core import find_needed_halves
from heuristic_core.jobs.job import job

main = job(find_needed_halves, __name__)
