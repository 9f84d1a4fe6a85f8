"""Figures and printed tables of the experiment."""

from heuristic_core.study.target import Target

TARGETS = {
    "figure_squares": Target(("squares",), "Squares of integers"),
}
