"""Write the report of a study of the list-sorting experiment."""

from heuristic_core.experiments.list_sorting.report import sorting_page
from heuristic_core.jobs.figures import make_report_job
from heuristic_core.jobs.job import job

main = job(make_report_job(sorting_page), __name__)
