"""Ranks of facts and implications if some layers have not learned the facts."""

from heuristic_core.config.figure import Figure
from heuristic_core.experiments.extractive_structures.figures.points import (
    draw_chance_level,
    draw_points,
    fit_limits,
    make_chance_handle,
    make_legend_handles,
    make_rank_marks,
)
from heuristic_core.experiments.extractive_structures.figures.styles import HOPS, PARTS, RANK_LABEL, expected_rank
from heuristic_core.figures.drawing import Drawing, Tables
from heuristic_core.figures.panels import make_panels
from heuristic_core.figures.seeds import drop_few_seeds

HOW = {"frozen": "frozen: these layers are not taught", "restored": "restored: they get their former weights back"}
LAYERS = ("none", "early", "late", "all")


def draw(tables: Tables, settings: Figure) -> Drawing:
    """Draw the figure. Rows: hops; columns: frozen or restored. Marks: one row per mark."""
    freezing = tables["extractive_freezing"]
    options = int(freezing["questions"].max())
    marks = drop_few_seeds(make_rank_marks(freezing, ["hop", "how", "layers", "part"], options))
    figure, axes = make_panels(settings, len(HOPS), len(HOW), 3.6, sharex=True, sharey=True)
    expected = expected_rank(options)
    for row, (hop, hop_label) in zip(axes, HOPS.items(), strict=True):
        for ax, how in zip(row, HOW, strict=True):
            draw_points(ax, marks[(marks["hop"] == hop) & (marks["how"] == how)], "layers", LAYERS, "part", PARTS)
            draw_chance_level(ax, expected)
        row[0].set_ylabel(f"{hop_label}\n{RANK_LABEL}")
    for ax in axes[-1]:
        ax.set_xlabel("layers")
    fit_limits(axes.flat, marks["value"], 0, expected)
    for ax, title in zip(axes[0], HOW.values(), strict=True):
        ax.set_title(title, loc="left")
    figure.legend(handles=make_legend_handles(PARTS, make_chance_handle()), loc="outside upper center", ncols=4)
    return figure, marks
