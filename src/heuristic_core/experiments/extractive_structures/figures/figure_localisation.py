"""Correlation between where implications are stored and which components process other facts."""

import numpy as np

from heuristic_core.config.figure import Figure
from heuristic_core.experiments.extractive_structures.correlations import to_z
from heuristic_core.experiments.extractive_structures.figures.points import draw_points, fit_limits, make_legend_handles
from heuristic_core.experiments.extractive_structures.figures.styles import KINDS
from heuristic_core.figures.drawing import Drawing, Tables
from heuristic_core.figures.panels import make_panels
from heuristic_core.figures.seeds import append_means, drop_few_seeds

CORRELATIONS = {"r": "within tokens", "r_pooled": "tokens pooled"}


def draw(tables: Tables, settings: Figure) -> Drawing:
    """Draw the figure.

    Marks: one row per mark; `value` is the r that `correlation` names. Means are computed on Fisher's z scale.
    """
    rows = tables["extractive_localisation"].melt(["kind", "seed"], [*CORRELATIONS], "correlation", "value")
    z_marks = drop_few_seeds(append_means(rows.assign(value=to_z(rows["value"])), ["kind", "correlation"]))
    marks = z_marks.assign(**{name: np.tanh(z_marks[name]) for name in ("value", "low", "high")})
    marks = marks.assign(low=marks["low"].mask(marks["low"] == marks["high"]))
    figure, axes = make_panels(settings, 1, 1, 2.2)
    named = marks.assign(name=marks["correlation"].map(CORRELATIONS))
    draw_points(axes[0, 0], named, "name", [*CORRELATIONS.values()], "kind", KINDS)
    axes[0, 0].axhline(0, color="0.7", linewidth=0.6, zorder=0)
    axes[0, 0].set_ylabel("r of informative and\ndownstream scores")
    fit_limits(axes.flat, marks["value"], 0, 1)
    figure.legend(handles=make_legend_handles(KINDS), loc="outside upper center", ncols=3)
    return figure, marks
