"""Figures and tables of extractive structures: pure functions from tables to a figure and the values of its marks.

Each module draws one target with ``draw(tables, settings)``: data frames by schema name, and the target's
``config.figure.Figure``. It returns the figure, None for a table, and the marks: a frame of the values behind every
mark. Modules of tables also define ``sheets(marks)``, the tables for reading.
"""

from functools import partial

from heuristic_core.experiments.extractive_structures.figures.targets import TARGETS
from heuristic_core.figures import drawing

draw = partial(drawing.draw, __name__, TARGETS)
build_sheets = partial(drawing.build_sheets, __name__, TARGETS)
