"""Attention of heads by the distance in value, at the end of training."""

import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from heuristic_core.config.figure import Figure
from heuristic_core.experiments.list_sorting.figures.styles import HEADS, condition_names
from heuristic_core.experiments.list_sorting.modes import MODEL_KEYS, assign_roles, select_last_step
from heuristic_core.figures.drawing import Drawing, Tables
from heuristic_core.figures.lines import legend_handles
from heuristic_core.figures.panels import make_panels
from heuristic_core.figures.seeds import MEAN_LINE_STYLE, SEED_LINE_STYLE, append_means, draw_seed_lines

KEYS = {"list": "keys in the list", "sorted": "keys among the sorted numbers"}
GROUP_COLUMNS = ["condition", "role", "keys", "distance"]


def draw(tables: Tables, settings: Figure) -> Drawing:
    """Draw a row for each condition, and a column for each region of keys.

    Returns:
        The figure, and marks: one row per point; `value` is a mean share of attention.
    """
    points = append_means(_attention_by_role(tables), GROUP_COLUMNS)
    names = condition_names(points)
    height = 1.4 * len(names) + 0.6
    figure, axes = make_panels(settings, len(names), len(KEYS), height, sharey=True, width_ratios=(3, 2))
    for row, name in zip(axes, names, strict=True):
        condition_points = points[points["condition"] == name]
        for ax, keys in zip(row, KEYS, strict=True):
            panel_points = condition_points[condition_points["keys"] == keys]
            draw_seed_lines(ax, panel_points, "distance", "role", HEADS)
            ax.axvline(0, color="0.7", linewidth=0.6, zorder=0)
            ax.set(xlabel="", ylabel="")
            ax.xaxis.set_major_locator(MaxNLocator(6, integer=True))
        row[0].set_ylabel(f"{name}\nshare of attention")
    for ax, title in zip(axes[0], KEYS.values(), strict=True):
        ax.set_title(title, loc="left")
    for ax in axes[-1]:
        ax.set_xlabel("the key's number less the query's")
    axes[0, 0].set_ylim(bottom=0)
    drawn_roles = {role: look for role, look in HEADS.items() if role in set(points["role"])}
    handles = [
        *legend_handles(drawn_roles, **MEAN_LINE_STYLE),
        Line2D([], [], color="black", label="one seed", **SEED_LINE_STYLE),
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles))
    return figure, points


def _attention_by_role(tables) -> pd.DataFrame:
    """Return attention of every seed by the role of the head; several other heads are averaged."""
    rows = select_last_step(tables["sorting_distance"])
    head_roles = assign_roles(select_last_step(tables["sorting_heads"]))[[*MODEL_KEYS, "head", "role"]]
    rows = rows.merge(head_roles, on=[*MODEL_KEYS, "head"], validate="many_to_one").rename(
        columns={"attention": "value"}
    )
    return rows.groupby([*GROUP_COLUMNS, "seed"], sort=False, as_index=False)["value"].mean()
