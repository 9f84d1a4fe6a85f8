"""Write a study's archive."""

from heuristic_core.experiments.export import export_study
from heuristic_core.jobs.job import job

main = job(export_study, __name__)
