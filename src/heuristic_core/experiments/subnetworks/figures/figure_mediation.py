"""How much of the ablated core's effect sets of later heads restore, and how much of the ablation they transmit."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from heuristic_core.config.figure import Figure
from heuristic_core.experiments.subnetworks.analysis.accuracy import J
from heuristic_core.experiments.subnetworks.analysis.contrasts import ACCURACY
from heuristic_core.experiments.subnetworks.analysis.mediation import (
    ALL_LATER,
    COUNTER_HEURISTIC,
    DIRECTIONS,
    LAYER,
    LEARNED,
    RANDOM,
)
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.experiments.subnetworks.figures.heads import COUNTER_COLOUR, RANDOM_COLOUR
from heuristic_core.experiments.subnetworks.figures.roles import ROLES
from heuristic_core.experiments.subnetworks.figures.rows import GROUPS, ft_seeds, reject_subsets, require_rows
from heuristic_core.figures.drawing import Drawing, Tables
from heuristic_core.figures.panels import annotate_empty, make_panels
from heuristic_core.figures.text import format_seed

MEASURED = (*GROUPS, J)
COLOURS = {LAYER: "black", ALL_LATER: "black", COUNTER_HEURISTIC: COUNTER_COLOUR, RANDOM: RANDOM_COLOUR}
NAMES = {COUNTER_HEURISTIC: "counter-heuristic", RANDOM: "random, same layers"}  # of sets, where not their own
MARKERS = dict(zip(DIRECTIONS, ("o", "D"), strict=True))
FILLED = DIRECTIONS[0]  # marks of the other direction are open
LABELS = dict(zip(DIRECTIONS, ("restored by the set", "transmitted by the set"), strict=True))
COST_COLOUR, COST_LABEL = "0.88", "cost of ablating the core"
OFFSET = 0.17  # of a direction's marks from the middle of their row
NO_HEADS = "no later heads of a core"
ROW_HEIGHT = 0.27  # inches
COLUMNS = ["ft_seed", "direction", "group", "set", "role", "size", "n", "full", "ablated", "patched"]
COLUMNS += [f"{name}{end}" for name in ("points", "share") for end in ("", "_low", "_high")]


def draw(tables: Tables, settings: Figure, context: Context) -> Drawing:
    """Draw a row of panels for each fine-tuning seed, a column for each group, and in panels a row for each set.

    Args:
        tables: Data frames by schema name: "mediation" and "core".
        settings: The target's ``config.figure.Figure``.
        context: Not used; every target takes it.

    Returns:
        The figure and its marks, one row per mark, in points of accuracy or J; none for a fine-tuning seed whose core
        is empty or in the last layer.
    """
    reject_subsets(settings)
    rows = tables["mediation"]
    rows = rows[(rows["core"] == LEARNED) & (rows["measure"] == ACCURACY) & rows["role"].isin(list(COLOURS))]
    rows = rows[rows["subset"].isna() & rows["family"].isna() & rows["group"].isin(MEASURED)]
    rows = rows.assign(row=rows["role"].map(NAMES).fillna(rows["set"]))
    seeds = ft_seeds(require_rows(tables["core"], "rows in table core"))
    groups = [group for group in MEASURED if (rows["group"] == group).any()] or [J]
    counts = [max(rows.loc[rows["ft_seed"] == seed, "row"].nunique(), 2) for seed in seeds]
    height = sum(ROW_HEIGHT * count + 0.35 for count in counts) + 0.8
    figure, axes = make_panels(
        settings, len(seeds), len(groups), height, sharex=True, sharey="row", height_ratios=counts
    )
    for line, ft_seed in zip(axes, seeds, strict=True):
        seed_rows = rows[rows["ft_seed"] == ft_seed]
        names = seed_rows["row"].drop_duplicates().tolist()
        for ax, group in zip(line, groups, strict=True):
            _draw_panel(ax, seed_rows[seed_rows["group"] == group], names)
            ax.set_title(ROLES[group].label, loc="left")
        line[0].set_ylabel(f"{format_seed(ft_seed)}\nset of later heads")
        line[0].set_yticks(range(len(names)), names)
        line[0].set_ylim((len(names) or 1) - 0.5, -0.5)
        if not names:
            annotate_empty(line[0], NO_HEADS)
    for ax in axes[-1]:
        ax.set_xlabel("points")
    figure.legend(handles=_legend_handles(), loc="outside upper center", ncols=3)
    return figure, rows[COLUMNS]


def _draw_panel(ax: Axes, rows: pd.DataFrame, names: list[str]) -> None:
    """Draw the cost of ablating the core as an area, and sets of later heads as marks with intervals."""
    ax.axvline(0, color="0.5", linewidth=0.6)
    ax.tick_params("y", length=0)
    if rows.empty:
        return
    ax.axvspan(0, (rows["full"] - rows["ablated"]).iloc[0], color=COST_COLOUR, zorder=0, linewidth=1)
    for direction, marker in MARKERS.items():
        offset = -OFFSET if direction == FILLED else OFFSET
        for (name, role), marks in rows[rows["direction"] == direction].groupby(["row", "role"], sort=False):
            colour, y = COLOURS[role], np.full(len(marks), names.index(name) + offset)
            ax.hlines(y, marks["points_low"], marks["points_high"], colour, linewidth=1)
            ax.scatter(
                marks["points"], y, 9 if role == RANDOM else 18, colour if direction == FILLED else "white",
                marker=marker, edgecolors=colour, linewidths=0.9, zorder=3,
            )  # fmt: skip


def _legend_handles() -> list:
    """Return the legend entries."""
    looks = {"color": "black", "linestyle": "", "markersize": 4}
    fills = {direction: "black" if direction == FILLED else "white" for direction in DIRECTIONS}
    marks = [
        Line2D([], [], marker=marker, label=LABELS[direction], markerfacecolor=fills[direction], **looks)
        for direction, marker in MARKERS.items()
    ]
    return [*marks, Patch(color=COST_COLOUR, label=COST_LABEL)]
