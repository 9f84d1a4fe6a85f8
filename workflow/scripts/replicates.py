"""Count on how many training seeds each claim holds."""

from heuristic_core.figures.table_replicates import draw_replicates
from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import recorded

main = job(draw_replicates)

if __name__ == "__main__":
    recorded(main)
