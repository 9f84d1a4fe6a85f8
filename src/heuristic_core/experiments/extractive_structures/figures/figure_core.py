"""Share of subnetworks that keep a component against its extractive scores."""

import pandas as pd
from matplotlib.axes import Axes

from heuristic_core.experiments.extractive_structures.figures.looks import HOPS, SCORES
from heuristic_core.figures.lines import legend_handles
from heuristic_core.figures.panels import make_panels
from heuristic_core.figures.roles import Role

KINDS = {"mlp": Role("MLPs", "#D55E00", "s", ""), "head": Role("heads", "#0072B2", "o", "")}
PART = "implications"


def draw(tables, settings):
    """Draw the figure. Rows: hops; columns: scores.

    Marks: one row per component of every seed, with the `share` of subnetworks that keep it and the `value` of the
    score.
    """
    core = tables["extractive_core"]
    core = core[core["part"] == PART].assign(share=lambda rows: rows["kept_by"] / rows["n"])
    keys = ["seed", "hop", "kind", "layer", "head", "share"]
    marks = core.melt(keys, list(SCORES), "score", "value")
    figure, axes = make_panels(settings, len(HOPS), len(SCORES), 3.4, sharey=True)
    for row, (hop, hop_label) in zip(axes, HOPS.items(), strict=True):
        for ax, score in zip(row, SCORES, strict=True):
            _draw_panel(ax, marks[(marks["hop"] == hop) & (marks["score"] == score)])
        row[0].set_ylabel(f"{hop_label}: share\nof subnetworks")
    axes[0, 0].set_ylim(-0.06, 1.06)
    for ax, title in zip(axes[0], SCORES.values(), strict=True):
        ax.set_title(title, loc="left")
    for ax in axes[-1]:
        ax.set_xlabel("score")
    figure.legend(handles=legend_handles(KINDS, markersize=3.5), loc="outside upper center", ncols=2)
    return figure, marks


def _draw_panel(ax: Axes, points: pd.DataFrame) -> None:
    for kind, role in KINDS.items():
        rows = points[points["kind"] == kind]
        ax.plot(
            rows["value"], rows["share"], role.marker, color=role.colour, markersize=3, alpha=0.6, markeredgewidth=0
        )
    ax.axvline(0, color="0.7", linewidth=0.6, zorder=0)
