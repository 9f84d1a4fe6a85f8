"""Write the description of a study: its checked configuration."""

from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import run_with_record
from heuristic_core.report.settings import describe_study

main = job(describe_study)

if __name__ == "__main__":
    run_with_record(main)
