"""Find the heads that all subnetworks of one fine-tuning run share."""

from heuristic_core.experiments.subnetworks.jobs.core import find_core
from heuristic_core.jobs.job import job

main = job(find_core, __name__)
