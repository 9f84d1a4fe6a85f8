"""Write the report of a study."""

from heuristic_core.experiments.made.report import made_page

from heuristic_core.jobs.figures import make_report_job
from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import run_with_record

main = job(make_report_job(made_page))

if __name__ == "__main__":
    run_with_record(main)
