"""Put two finished studies on one page, with a table of their differences."""

from heuristic_core.experiments.subnetworks.jobs.compare import compare_studies
from heuristic_core.jobs.job import job

main = job(compare_studies, __name__)
