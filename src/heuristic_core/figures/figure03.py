"""Figure 3: the full model and every mid-sparsity subnetwork side by side on chosen subsets."""

import matplotlib
import numpy as np
import pandas as pd

from heuristic_core.figures.panels import panels, percent_axis, upright_height
from heuristic_core.figures.roles import ROLES
from heuristic_core.figures.rows import CELL_MARKS, ft_seeds, full_model, shown, subnetworks, subset_groups
from heuristic_core.figures.text import percent, seed_label

WIDTH = 0.86  # of all bars of a subset, where the distance between subsets is 1
WHISKER = {"color": "0.5", "linewidth": 0.6}  # seen on black and on yellow bars
COMPACT = {"handlelength": 1, "columnspacing": 0.9, "handletextpad": 0.4}  # a legend of many short entries
CHARACTERS = 14  # of tick labels that fit side by side into an inch


def draw(tables, settings, context):
    """Rows: fine-tuning seeds. Marks: one row per bar, with the ends of its whisker."""
    accuracy = tables["accuracy"]
    full = full_model(accuracy, context.last)
    cell = subnetworks(accuracy, context.last, context.mid, context.seeds)
    groups = subset_groups(full, shown(settings, context))
    if settings.subsets is None:
        groups = {subset: group for subset, group in groups.items() if group != "ood-entailment"}
    seeds = ft_seeds(full)
    # Names stand upright where they would otherwise run into each other.
    crowded = len(groups) * max(map(len, groups)) > CHARACTERS * settings.width
    height = 1.7 * len(seeds) + 0.7 + (upright_height(groups) if crowded else 0.3)
    figure, axes = panels(settings, len(seeds), 1, height, sharex=True)
    models = _models(context.seeds)
    for ax, ft_seed in zip(axes[:, 0], seeds, strict=True):
        _bars(ax, full[full["ft_seed"] == ft_seed], cell[cell["ft_seed"] == ft_seed], list(groups), models)
        ax.set_title(f"{seed_label(ft_seed)}, sparsity {percent(context.mid)}", loc="left")
        ax.set_ylabel("accuracy (%)")
    labels = [f"{subset}\n({ROLES[group].label})" for subset, group in groups.items()]
    axes[-1, 0].set_xticks(range(len(groups)), labels, rotation=90 if crowded else 0)
    handles, names = axes[0, 0].get_legend_handles_labels()
    title = "bars from left to right: the full model, then subnetworks by pruning seed"
    figure.legend(handles, names, loc="outside upper center", ncols=len(models), title=title, **COMPACT)
    marks = pd.concat([full, cell])
    return figure, marks.loc[marks["subset"].isin(list(groups)), CELL_MARKS]


def _models(seeds) -> dict[int | None, tuple]:
    """Colour of every model, by pruning seed; None for the full model."""
    colours = matplotlib.colormaps["viridis"](np.linspace(0.05, 0.95, len(seeds)))
    return {None: "black"} | dict(zip(seeds, map(tuple, colours), strict=True))


def _bars(ax, full: pd.DataFrame, cell: pd.DataFrame, subsets: list[str], models: dict) -> None:
    """One bar per model and subset; a missing value leaves its place empty."""
    width = WIDTH / len(models)
    for k, (seed, colour) in enumerate(models.items()):
        rows = full if seed is None else cell[cell["seed"] == seed]
        rows = rows.set_index("subset").reindex(subsets)
        heights = rows["accuracy"]
        left = np.arange(len(subsets)) - WIDTH / 2 + k * width
        ax.bar(left, heights, 0.9 * width, align="edge", color=colour, label="full model" if seed is None else seed)
        # A bar of height zero would look like a missing one; its top does not.
        ax.hlines(heights, left, left + 0.9 * width, color=[colour], linewidth=1.2, zorder=3)
        ax.vlines(left + 0.45 * width, rows["low"], rows["high"], **WHISKER, zorder=4)
    percent_axis(ax.yaxis)
    ax.spines["bottom"].set_position(("data", 0))
    ax.tick_params("x", length=0)
    ax.set_xlim(-0.5, len(subsets) - 0.5)
