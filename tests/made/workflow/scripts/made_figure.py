"""Draw a figure from the study's tables."""

from heuristic_core.experiments.made.figures import build_sheets, draw
from heuristic_core.experiments.made.figures.targets import TARGETS

from heuristic_core.jobs.figures import make_figure_job
from heuristic_core.jobs.job import job

main = job(make_figure_job(TARGETS, draw, build_sheets), __name__)
