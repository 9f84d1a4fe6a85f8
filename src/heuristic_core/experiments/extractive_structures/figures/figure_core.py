"""Extractive scores of components, by the share of subnetworks that keep them."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from heuristic_core.config.figure import Figure
from heuristic_core.experiments.extractive_structures.figures.styles import HOPS, KINDS, SCORES
from heuristic_core.figures.drawing import Drawing, Tables
from heuristic_core.figures.lines import legend_handles
from heuristic_core.figures.panels import make_panels

PART = "implications"
SPREAD = 0.3  # of the marks of a kind with one share, as a share of the distance of shares
GOLDEN_RATIO = 0.618  # its multiples modulo 1 never cluster: jitter without random numbers


def draw(tables: Tables, settings: Figure) -> Drawing:
    """Draw the figure. Rows: hops; columns: scores.

    Marks: one row per component of every seed, with the `share` of subnetworks that keep it and the `value` of the
    score.
    """
    core = tables["extractive_core"]
    core = core[core["part"] == PART].assign(share=lambda rows: rows["kept_by"] / rows["n"])
    step = 1 / core["n"].max()
    keys = ["seed", "hop", "kind", "layer", "head", "share"]
    marks = core.melt(keys, list(SCORES), "score", "value")
    figure, axes = make_panels(settings, len(HOPS), len(SCORES), 3.5, sharex=True)
    for row, (hop, hop_label) in zip(axes, HOPS.items(), strict=True):
        for ax, score in zip(row, SCORES, strict=True):
            _draw_panel(ax, marks[(marks["hop"] == hop) & (marks["score"] == score)], step)
        row[0].set_ylabel(f"{hop_label}: score")
    for ax, title in zip(axes[0], SCORES.values(), strict=True):
        ax.set_title(title.replace(", ", ",\n"), loc="left")
    axes[0, 0].set(xlim=(-step, 1 + step), xticks=np.linspace(0, 1, 3))
    for ax in axes[-1]:
        ax.set_xlabel("share that keeps it")
    looks = {kind: look._replace(line="") for kind, look in KINDS.items()}
    figure.legend(handles=legend_handles(looks, markersize=3.5), loc="outside upper center", ncols=2)
    return figure, marks


def _draw_panel(ax: Axes, points: pd.DataFrame, step: float) -> None:
    """Draw MLPs left, heads right of their share; `step` is the distance of shares."""
    ax.axhline(0, color="0.7", linewidth=0.6, zorder=0)
    for (kind, look), side in zip(KINDS.items(), (-0.5, 0.5), strict=True):
        rows = points[points["kind"] == kind]
        places = rows.groupby("share").cumcount() * GOLDEN_RATIO % 1 - 0.5 + side
        x = rows["share"] + SPREAD * step * 1.2 * places
        ax.plot(x, rows["value"], look.marker, color=look.colour, markersize=2.6, alpha=0.7, markeredgewidth=0)
