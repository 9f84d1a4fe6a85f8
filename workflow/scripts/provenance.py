"""Collect the provenance records of a study's results: one row for each job."""

from heuristic_core.jobs.job import job
from heuristic_core.jobs.records import collect_records

main = job(collect_records, __name__)
