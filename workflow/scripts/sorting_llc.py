"""Sample the local learning coefficient of the models of one condition at one checkpoint."""

from heuristic_core.experiments.list_sorting.jobs.llc import sample_llc
from heuristic_core.jobs.job import job

main = job(sample_llc, __name__)
