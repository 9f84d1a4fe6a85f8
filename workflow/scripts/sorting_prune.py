"""Find the halves of heads that the models of one condition need: all subsets, and subsets that gates learn."""

from heuristic_core.experiments.list_sorting.jobs.prune import prune_halves
from heuristic_core.jobs.job import job

main = job(prune_halves, __name__)
