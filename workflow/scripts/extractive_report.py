"""Write the report of a study of the extractive-structures experiment."""

from heuristic_core.experiments.extractive_structures.report import extractive_page
from heuristic_core.jobs.figures import make_report_job
from heuristic_core.jobs.job import job

main = job(make_report_job(extractive_page), __name__)
