"""Ranks of facts and implications while facts are taught, by hop and by the corpus of pre-training."""

from matplotlib.lines import Line2D

from heuristic_core.config.figure import Figure
from heuristic_core.experiments.extractive_structures.figures.points import (
    draw_chance_level,
    fit_limits,
    make_chance_handle,
)
from heuristic_core.experiments.extractive_structures.figures.styles import HOPS, PARTS, RANK_LABEL, expected_rank
from heuristic_core.figures.drawing import Drawing, Tables
from heuristic_core.figures.lines import legend_handles
from heuristic_core.figures.panels import make_panels
from heuristic_core.figures.seeds import MEAN_LINE_STYLE, SEED_LINE_STYLE, append_means, draw_seed_lines


def draw(tables: Tables, settings: Figure) -> Drawing:
    """Draw the figure. Rows: hops; columns: corpora. Marks: one row per point."""
    curves = tables["extractive_curves"]
    group_columns = ["corpus", "hop", "part", "epoch"]
    points = append_means(curves.rename(columns={"rank": "value"}), group_columns)
    corpora = curves["corpus"].drop_duplicates().tolist()
    figure, axes = make_panels(settings, len(HOPS), len(corpora), 3.4, sharex=True, sharey=True)
    expected = expected_rank(int(curves["questions"].max()))
    for row, (hop, hop_label) in zip(axes, HOPS.items(), strict=True):
        for ax, corpus in zip(row, corpora, strict=True):
            panel_points = points[(points["hop"] == hop) & (points["corpus"] == corpus)]
            draw_seed_lines(ax, panel_points, "epoch", "part", PARTS)
            draw_chance_level(ax, expected)
            ax.set(xlabel="", ylabel="")
        row[0].set_ylabel(f"{hop_label}\n{RANK_LABEL}")
    fit_limits(axes.flat, points["value"], 0, expected)
    for ax, corpus in zip(axes[0], corpora, strict=True):
        ax.set_title(f"corpus: {corpus}", loc="left")
    for ax in axes[-1]:
        ax.set_xlabel("epoch of teaching facts")
    lines = [
        *legend_handles(PARTS, **MEAN_LINE_STYLE),
        Line2D([], [], color="black", label="one seed", **SEED_LINE_STYLE),
        make_chance_handle(),
    ]
    figure.legend(handles=lines, loc="outside upper center", ncols=len(lines))
    return figure, points
