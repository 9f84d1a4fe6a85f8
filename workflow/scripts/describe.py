"""Write the description of a study: its checked configuration."""

from heuristic_core.jobs.job import job
from heuristic_core.report.settings import describe_study

main = job(describe_study, __name__)
