"""Count the subnetworks with each component."""

from heuristic_core.experiments.subnetworks.jobs.head_frequency import measure_head_frequency
from heuristic_core.jobs.job import job

main = job(measure_head_frequency, __name__)
