"""Draw the table of verdicts of several studies."""

from heuristic_core.figures.table_verdicts import draw_verdicts
from heuristic_core.jobs.job import job

main = job(draw_verdicts, __name__)
