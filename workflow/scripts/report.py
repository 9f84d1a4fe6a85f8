"""Write a study's report."""

from heuristic_core.experiments.subnetworks.jobs.report import write_report
from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import run_with_record

main = job(write_report)

if __name__ == "__main__":
    run_with_record(main)
