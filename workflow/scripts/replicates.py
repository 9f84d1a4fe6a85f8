"""Count on how many training seeds each claim holds."""

from heuristic_core.figures.table_replicates import draw_replicates
from heuristic_core.jobs.job import job

main = job(draw_replicates, __name__)
