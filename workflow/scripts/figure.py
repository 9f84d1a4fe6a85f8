"""Draw one figure or table of the paper."""

from heuristic_core.experiments.subnetworks.jobs.figure import draw_figure
from heuristic_core.jobs.job import job

main = job(draw_figure, __name__)
