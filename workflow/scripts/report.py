"""Write a study's report."""

from heuristic_core.experiments.subnetworks.jobs.report import write_report
from heuristic_core.jobs.job import job

main = job(write_report, __name__)
