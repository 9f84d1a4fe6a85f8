"""Figures and tables of extractive structures: pure functions from tables to a figure and the values of its marks."""

from functools import partial

from heuristic_core.experiments.extractive_structures.figures.targets import TARGETS
from heuristic_core.figures import drawing

draw = partial(drawing.draw, __name__, TARGETS)
build_sheets = partial(drawing.build_sheets, __name__, TARGETS)
