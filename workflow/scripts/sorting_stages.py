"""Find stages of training by change points of loss, overlap and local learning coefficient, over seeds."""

from heuristic_core.experiments.list_sorting.jobs.stages import find_stages
from heuristic_core.jobs.job import job

main = job(find_stages, __name__)
