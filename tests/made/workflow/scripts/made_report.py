"""Write the report of a study."""

from heuristic_core.experiments.made.report import made_page

from heuristic_core.jobs.figures import make_report_job
from heuristic_core.jobs.job import job

main = job(make_report_job(made_page), __name__)
