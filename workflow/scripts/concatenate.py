"""Join the parts of one table."""

from heuristic_core.experiments.subnetworks.tables.schemas import SCHEMAS
from heuristic_core.jobs.job import job
from heuristic_core.jobs.tables import make_concatenate_job

main = job(make_concatenate_job(SCHEMAS), __name__)
