"""Join the parts of one table."""

from heuristic_core.experiments.list_sorting.tables import TABLES
from heuristic_core.jobs.job import job
from heuristic_core.jobs.tables import make_concatenate_job
from heuristic_core.provenance.record import run_with_record

main = job(make_concatenate_job(TABLES))

if __name__ == "__main__":
    run_with_record(main)
