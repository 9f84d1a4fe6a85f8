"""Import the authors' published results of one task as tables of a study."""

from heuristic_core.experiments.subnetworks.jobs.published import import_results
from heuristic_core.jobs.job import job

main = job(import_results, __name__)
