"""Figure 2: the spread of subnetworks' accuracies on every evaluation subset, at both sparsities."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from heuristic_core.figures.panels import panels, percent, percent_axis, seed_label, upright_height
from heuristic_core.figures.rows import CELL_MARKS, ft_seeds, full_model, shown, subnetworks, subset_groups
from heuristic_core.figures.style import ROLES, SMALL

GOLDEN = 0.618  # its multiples modulo 1 never cluster: points are set apart without random numbers
FEWEST_FOR_VIOLIN = 3  # distinct values; fewer have no shape


def draw(tables, settings, context):
    """Rows: fine-tuning seeds. Columns: mid and high sparsity. Marks: one row per point and per segment."""
    accuracy = tables["accuracy"]
    full = full_model(accuracy, context.last)
    cells = {s: subnetworks(accuracy, context.last, s, context.seeds) for s in (context.mid, context.high)}
    groups = subset_groups(full, shown(settings, context))
    seeds = ft_seeds(full)
    height = 2.1 * len(seeds) + 0.5 + upright_height(groups)
    figure, axes = panels(settings, len(seeds), 2, height, sharex=True, sharey=True)
    for row, ft_seed in zip(axes, seeds, strict=True):
        for ax, (sparsity, cell) in zip(row, cells.items(), strict=True):
            of_panel = cell[cell["ft_seed"] == ft_seed]
            _panel(ax, of_panel, full[full["ft_seed"] == ft_seed], groups, context.seeds)
            count = of_panel.loc[of_panel["accuracy"].notna(), "seed"].nunique()
            title = f"{seed_label(ft_seed)}, sparsity {percent(sparsity)}, n = {count} subnetworks"
            ax.set_title(title, fontsize=SMALL, pad=14)
        row[0].set_ylabel("accuracy (%)")
    for ax in axes[-1]:
        ax.set_xticks(range(len(groups)), groups, rotation=90)
    _legend(figure)
    marks = pd.concat([full, *cells.values()])
    return figure, marks.loc[marks["subset"].isin(list(groups)), CELL_MARKS]


def _panel(ax: Axes, cell: pd.DataFrame, full: pd.DataFrame, groups: dict[str, str], seeds) -> None:
    """Violins, points and segments of one fine-tuning seed at one sparsity."""
    offset = {seed: 0.5 * ((k * GOLDEN) % 1 - 0.5) for k, seed in enumerate(seeds)}
    for x, (subset, group) in enumerate(groups.items()):
        role = ROLES[group]
        of_subset = cell[(cell["subset"] == subset) & cell["accuracy"].notna()]
        values = of_subset["accuracy"].to_numpy()
        if len(np.unique(values)) >= FEWEST_FOR_VIOLIN:
            (body,) = ax.violinplot([values], [x], widths=0.85, showextrema=False)["bodies"]
            body.set(facecolor=role.colour, edgecolor="none", alpha=0.25)
        xs = [x + offset[seed] for seed in of_subset["seed"]]
        ax.scatter(xs, values, s=7, marker=role.marker, color=role.colour, linewidth=0, zorder=3)
        level = full.loc[full["subset"] == subset, "accuracy"]
        ax.hlines(level, x - 0.45, x + 0.45, color="black", linewidth=1.4, zorder=4)
    _group_names(ax, list(groups.values()))
    ax.set_xlim(-0.6, len(groups) - 0.4)
    percent_axis(ax.yaxis)


def _group_names(ax: Axes, groups: list[str]) -> None:
    """The name of each group above its subsets, and a dashed line before the next."""
    for group in dict.fromkeys(groups):
        first, last = groups.index(group), len(groups) - 1 - groups[::-1].index(group)
        ax.text(
            (first + last) / 2, 1.02, ROLES[group].label, color=ROLES[group].colour, fontsize=SMALL,
            ha="center", va="bottom", transform=ax.get_xaxis_transform(),
        )  # fmt: skip
        if last < len(groups) - 1:
            ax.axvline(last + 0.5, color="0.4", linestyle="--", linewidth=0.7)


def _legend(figure) -> None:
    handles = [
        Line2D([], [], color="black", linewidth=1.4, label="full model"),
        Line2D([], [], color="0.4", marker="o", markersize=3, linestyle="", label="one subnetwork"),
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=2)
