"""Figure 3: the full model and every mid-sparsity subnetwork side by side on chosen subsets."""

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.patches import Patch

from heuristic_core.experiments.subnetworks.analysis.outcomes import with_collapses
from heuristic_core.experiments.subnetworks.figures.collapsed import draw_crosses, make_cross_handles
from heuristic_core.experiments.subnetworks.figures.roles import ROLES
from heuristic_core.experiments.subnetworks.figures.rows import (
    CELL_MARKS,
    ft_seeds,
    map_subset_groups,
    resolve_subsets,
    select_full_model,
    select_subnetworks,
)
from heuristic_core.figures.panels import make_panels, set_percent_axis, vertical_label_height
from heuristic_core.figures.text import format_percent, format_seed

FULL_MODEL = "full model"
WIDTH = 0.86  # of all bars of a subset; subsets are 1 apart
WHISKER = {"color": "0.5", "linewidth": 0.6}  # visible on black and on yellow bars
COMPACT_LEGEND = {"handlelength": 1, "columnspacing": 0.9, "handletextpad": 0.4}  # a legend of many short entries
CHARACTERS_PER_INCH = 14  # of tick labels that fit side by side into an inch


def draw(tables, settings, context):
    """Draw a panel for each fine-tuning seed.

    Args:
        tables: Data frames by schema name: "accuracy", and "runs" if the study has it.
        settings: The target's ``config.figure.Figure``.
        context: The study's ``config.context.Context``.

    Returns:
        The figure and its marks, one row per bar, with the ends of its whisker.
    """
    accuracy = tables["accuracy"]
    full = select_full_model(accuracy, context.last)
    cell = select_subnetworks(accuracy, context.last, context.mid, context.seeds)
    groups = map_subset_groups(full, resolve_subsets(settings, context))
    if settings.subsets is None:
        groups = {subset: group for subset, group in groups.items() if group != "ood-entailment"}
    seeds = ft_seeds(full)
    # Names are upright where they would otherwise run into each other.
    crowded = len(groups) * max(map(len, groups)) > CHARACTERS_PER_INCH * settings.width
    height = 1.7 * len(seeds) + 0.7 + (vertical_label_height(groups) if crowded else 0.3)
    figure, axes = make_panels(settings, len(seeds), 1, height, sharex=True)
    colours = sns.color_palette("viridis", len(context.seeds))
    models = {FULL_MODEL: "black"} | dict(zip(map(str, context.seeds), colours, strict=True))
    marks = with_collapses(pd.concat([full, cell]), tables.get("runs"))
    marks = marks[marks["subset"].isin(list(groups))]
    bar_rows = marks.assign(model=marks["seed"].astype(str).where(marks["seed"].notna(), FULL_MODEL))
    for ax, ft_seed in zip(axes[:, 0], seeds, strict=True):
        _bars(ax, bar_rows[bar_rows["ft_seed"] == ft_seed], list(groups), models)
        ax.set_title(f"{format_seed(ft_seed)}, sparsity {format_percent(context.mid)}", loc="left")
    labels = [f"{subset}\n({ROLES[group].label})" for subset, group in groups.items()]
    axes[-1, 0].set_xticks(range(len(groups)), labels, rotation=90 if crowded else 0)
    title = "bars from left to right: the full model, then subnetworks by pruning seed"
    entries = [Patch(color=colour, label=model) for model, colour in models.items()]
    entries += make_cross_handles(marks["collapsed"].any(), "collapsed: at chance in-domain")
    figure.legend(handles=entries, loc="outside upper center", ncols=len(entries), title=title, **COMPACT_LEGEND)
    return figure, marks[[*CELL_MARKS, "collapsed"]]


def _bars(ax, rows: pd.DataFrame, subsets: list[str], models: dict) -> None:
    """Draw one bar per model and subset, in the order of both; a missing value leaves its place empty."""
    order = {
        "model": pd.Categorical(rows["model"], list(models)),
        "subset": pd.Categorical(rows["subset"], subsets),
    }
    rows = rows.assign(**order).dropna(subset="accuracy").sort_values(["model", "subset"])
    sns.barplot(
        rows, x="subset", y="accuracy", hue="model", palette=models, saturation=1, errorbar=None, width=WIDTH, gap=0.1,
        linewidth=0, legend=False, ax=ax,
    )  # fmt: skip
    left, width = np.array([(bar.get_x(), bar.get_width()) for bar in ax.patches]).reshape(-1, 2).T
    # A bar of height zero would look like a missing one; its top does not.
    colours = [models[name] for name in rows["model"]]
    ax.hlines(rows["accuracy"], left, left + width, color=colours, linewidth=1.2, zorder=3)
    ax.vlines(left + width / 2, rows["low"], rows["high"], **WHISKER, zorder=4)
    draw_crosses(ax, (left + width / 2)[rows["collapsed"]], rows.loc[rows["collapsed"], "accuracy"])
    set_percent_axis(ax.yaxis)
    ax.set(xlim=(-0.5, len(subsets) - 0.5), xlabel="", ylabel="accuracy (%)")
    ax.spines["bottom"].set_position(("data", 0))
    ax.tick_params("x", length=0)
