"""Figures and tables of the list-sorting experiment: pure functions from tables to a figure and values of its marks."""

from functools import partial

from heuristic_core.experiments.list_sorting.figures.targets import TARGETS
from heuristic_core.figures import drawing

draw = partial(drawing.draw, __name__, TARGETS)
build_sheets = partial(drawing.build_sheets, __name__, TARGETS)
