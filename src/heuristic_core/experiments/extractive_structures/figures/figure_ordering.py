"""Ranks of test names' implications, which are never taught, by the order in which other names' are taught."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from heuristic_core.config.figure import Figure
from heuristic_core.experiments.extractive_structures.figures.points import (
    draw_chance_level,
    fit_limits,
    make_chance_handle,
)
from heuristic_core.experiments.extractive_structures.figures.styles import (
    FACTS,
    IMPLICATIONS,
    RANK_LABEL,
    TAUGHT_IMPLICATIONS,
    expected_rank,
)
from heuristic_core.experiments.extractive_structures.ordering import ORDERS
from heuristic_core.figures.drawing import Drawing, Tables
from heuristic_core.figures.lines import legend_handles
from heuristic_core.figures.panels import make_panels
from heuristic_core.figures.roles import Role
from heuristic_core.figures.seeds import MEAN_LINE_STYLE, SEED_LINE_STYLE, append_means, draw_seed_lines

TEST_IMPLICATIONS = "test implications"
PARTS = {
    "facts": Role("facts", FACTS, "", "--"),
    "implications": Role("implications", TAUGHT_IMPLICATIONS, "", ":"),
    "test facts": Role("test facts", "0.25", "", "-."),
    TEST_IMPLICATIONS: Role("test implications, never taught", IMPLICATIONS, "", "-"),
}


def draw(tables: Tables, settings: Figure) -> Drawing:
    """Draw the figure. Columns: orders. Marks: one row per point; `at` counts epochs over the stages of an order."""
    ordering = tables["extractive_ordering"]
    longest = ordering.groupby("order")["epoch"].transform("max")
    rows = ordering.assign(at=ordering["epoch"] + ordering["stage"] * longest, value=ordering["rank"])
    points = append_means(rows, ["order", "stage", "part", "at"])
    orders = [order for order in ORDERS if order in set(points["order"])]
    figure, axes = make_panels(settings, 1, len(orders), 2.4, sharey=True)
    tested = rows[rows["part"] == TEST_IMPLICATIONS]
    expected = expected_rank(int(tested["questions"].max()))
    for ax, order in zip(axes[0], orders, strict=True):
        _draw_panel(ax, points[points["order"] == order])
        draw_chance_level(ax, expected)
        ax.set_title(order, loc="left")
        ax.set(xlabel="epoch", ylabel="")
    axes[0, 0].set_ylabel(RANK_LABEL)
    fit_limits(axes.flat, points["value"], 0, expected)
    lines = [
        *legend_handles(PARTS, **MEAN_LINE_STYLE),
        Line2D([], [], color="black", label="one seed", **SEED_LINE_STYLE),
        make_chance_handle(),
    ]
    figure.legend(handles=lines, loc="outside upper center", ncols=len(lines))
    return figure, points


def _draw_panel(ax: Axes, points: pd.DataFrame) -> None:
    draw_seed_lines(ax, points, "at", "part", PARTS)
    for end in points.groupby("stage")["at"].max().iloc[:-1]:
        ax.axvline(end + 0.5, color="0.4", linewidth=0.6, linestyle=":", zorder=0)
