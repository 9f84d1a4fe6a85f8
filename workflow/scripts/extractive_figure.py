"""Draw one figure or table of the extractive-structures experiment from the study's tables."""

from heuristic_core.experiments.extractive_structures.figures import build_sheets, draw
from heuristic_core.experiments.extractive_structures.figures.targets import TARGETS
from heuristic_core.jobs.figures import make_figure_job
from heuristic_core.jobs.job import job

main = job(make_figure_job(TARGETS, draw, build_sheets), __name__)
