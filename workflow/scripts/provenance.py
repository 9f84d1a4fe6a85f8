"""Collect the provenance records of a study's results: one row for each job."""

from heuristic_core.jobs.job import job
from heuristic_core.jobs.records import collect_records
from heuristic_core.provenance.record import run_with_record

main = job(collect_records)

if __name__ == "__main__":
    run_with_record(main)
