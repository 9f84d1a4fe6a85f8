"""Squares of integers."""

from heuristic_core.figures.panels import make_wrapped_panels


def draw(tables, settings):
    """Draw a point for each number. Marks: one row per number."""
    marks = tables["squares"]
    figure, (ax,) = make_wrapped_panels(settings, 1, 2)
    ax.plot(marks["number"], marks["square"], "o")
    return figure, marks
