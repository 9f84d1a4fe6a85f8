"""Ranks of a model that knows other facts, with grafted weights that another model learned from implications."""

from heuristic_core.config.figure import Figure
from heuristic_core.experiments.extractive_structures.figures.points import (
    draw_chance_level,
    draw_points,
    fit_limits,
    make_chance_handle,
    make_legend_handles,
    make_rank_marks,
)
from heuristic_core.experiments.extractive_structures.figures.styles import (
    FACTS,
    IMPLICATIONS,
    RANK_LABEL,
    TAUGHT_IMPLICATIONS,
    expected_rank,
)
from heuristic_core.figures.drawing import Drawing, Tables
from heuristic_core.figures.panels import make_panels
from heuristic_core.figures.roles import Role
from heuristic_core.figures.seeds import drop_few_seeds

WEIGHTS = ("none", "graft", "control")
PARTS = {
    "facts": Role("its own facts", FACTS, "s"),
    "implications": Role("implications of its own facts", IMPLICATIONS, "o"),
    "first implications": Role("implications that the graft was learned from", TAUGHT_IMPLICATIONS, "^"),
}


def draw(tables: Tables, settings: Figure) -> Drawing:
    """Draw the figure. Marks: one row per mark."""
    options = int(tables["extractive_ordering"].query("part == 'test implications'")["questions"].max())
    marks = drop_few_seeds(make_rank_marks(tables["extractive_grafting"], ["weights", "part"], options))
    figure, axes = make_panels(settings, 1, 1, 2.6)
    draw_points(axes[0, 0], marks, "weights", WEIGHTS, "part", PARTS)
    expected = expected_rank(options)
    draw_chance_level(axes[0, 0], expected)
    fit_limits(axes.flat, marks["value"], 0, expected)
    axes[0, 0].set(xlabel="weights added", ylabel=RANK_LABEL)
    figure.legend(handles=make_legend_handles(PARTS, make_chance_handle()), loc="outside upper center", ncols=3)
    return figure, marks
