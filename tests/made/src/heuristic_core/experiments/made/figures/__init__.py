"""Figures of the experiment."""

from functools import partial

from heuristic_core.experiments.made.figures.targets import TARGETS

from heuristic_core.figures import drawing

draw = partial(drawing.draw, __name__, TARGETS)
build_sheets = partial(drawing.build_sheets, __name__, TARGETS)
