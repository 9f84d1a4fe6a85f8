"""Count on how many training seeds each claim holds."""

from heuristic_core.figures.table_replicates import draw_replicates
from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import run_with_record

main = job(draw_replicates)

if __name__ == "__main__":
    run_with_record(main)
