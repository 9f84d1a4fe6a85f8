"""Extractive scores of MLPs and of heads, by token and layer."""

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes

from heuristic_core.config.figure import Figure
from heuristic_core.experiments.extractive_structures.figures.styles import HOPS, SCORES
from heuristic_core.figures.drawing import Drawing, Tables
from heuristic_core.figures.panels import make_panels
from heuristic_core.figures.seeds import append_means
from heuristic_core.figures.style import SMALL_FONT_SIZE

KINDS = {"mlp": "MLPs", "head": "sum of heads"}
GROUP_COLUMNS = ["hop", "kind", "score", "position", "token", "layer"]
COLORBAR = {"location": "bottom", "pad": 0.01, "aspect": 14, "fraction": 0.03}


def draw(tables: Tables, settings: Figure) -> Drawing:
    """Draw the figure. Rows: hop and kind of component; columns: scores.

    Marks: one row per cell, for every seed and for their mean. The scores of a layer's heads are summed. Colours show
    means over seeds; the panels of a score share a scale.
    """
    scores = tables["extractive_scores"]
    summed = scores.groupby([*GROUP_COLUMNS, "seed"], sort=False, dropna=False)["value"].sum(min_count=1).reset_index()
    marks = append_means(summed, GROUP_COLUMNS)
    means = marks[marks["seed"].isna()]
    rows = [(hop, kind) for hop in HOPS for kind in KINDS]
    most_tokens = max(len(_list_tokens(means, hop)) for hop in HOPS)
    height = len(rows) * (0.13 * most_tokens + 0.3) + 0.8
    figure, axes = make_panels(settings, len(rows), len(SCORES), height, sharex=True)
    largest = {score: np.nanmax(np.abs(means.loc[means["score"] == score, "value"]), initial=1e-12) for score in SCORES}
    for row_axes, (hop, kind) in zip(axes, rows, strict=True):
        tokens = _list_tokens(means, hop)
        for ax, score in zip(row_axes, SCORES, strict=True):
            panel_means = means[(means["hop"] == hop) & (means["kind"] == kind) & (means["score"] == score)]
            _draw_heatmap(ax, panel_means, tokens, largest[score])
            ax.set_yticks([])
        row_axes[0].set_yticks(np.arange(len(tokens)) + 0.5, tokens.to_list())
        row_axes[0].set_ylabel(f"{HOPS[hop]}: {KINDS[kind]}")
    for ax, title in zip(axes[0], SCORES.values(), strict=True):
        ax.set_title(title, loc="left")
    for column in axes.T:
        column[-1].set_xlabel("layer")
        bar = figure.colorbar(column[0].collections[0], ax=column, **COLORBAR)
        bar.outline.set_visible(False)
    figure.supxlabel("colour: fall of the loss to first order, a scale for each score", fontsize=SMALL_FONT_SIZE)
    return figure, marks


def _list_tokens(means: pd.DataFrame, hop: str) -> pd.Series:
    """Return the tokens of a hop's prompts, by position."""
    hop_means = means[means["hop"] == hop]
    return hop_means.drop_duplicates("position").set_index("position")["token"].sort_index()


def _draw_heatmap(ax: Axes, cells: pd.DataFrame, tokens: pd.Series, largest: float) -> None:
    """Draw layers from left to right, tokens from top to bottom; blue lowers the loss, red raises it, grey is NaN."""
    values = cells.pivot(index="position", columns="layer", values="value").reindex(tokens.index).astype(float)
    sns.heatmap(values, vmin=-largest, vmax=largest, cmap="RdBu", cbar=False, linewidths=0.3, yticklabels=False, ax=ax)
    ax.set_facecolor("0.85")
    ax.set(xlabel="", ylabel="")
    ax.tick_params(length=0, rotation=0)
