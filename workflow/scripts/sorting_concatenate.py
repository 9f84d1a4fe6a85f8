"""Join the parts of one table."""

from heuristic_core.experiments.list_sorting.tables import TABLES
from heuristic_core.jobs.job import job
from heuristic_core.jobs.tables import make_concatenate_job

main = job(make_concatenate_job(TABLES), __name__)
