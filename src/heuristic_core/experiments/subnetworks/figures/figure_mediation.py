"""How much of the ablated core's effect sets of later heads restore, and how much of the ablation they transmit."""

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.markers import MarkerStyle
from matplotlib.patches import Patch

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
from heuristic_core.experiments.subnetworks.figures.roles import ROLES
from heuristic_core.experiments.subnetworks.figures.rows import GROUPS, ft_seeds, reject_subsets, require_rows
from heuristic_core.figures.panels import make_panels
from heuristic_core.figures.roles import Role
from heuristic_core.figures.text import format_seed

MEASURED = (*GROUPS, J)
# Okabe and Ito's palette, without the colours of groups of subsets.
LOOKS = {
    RANDOM: Role("as many random heads of the same layers", "0.6", "o"),
    COUNTER_HEURISTIC: Role("counter-heuristic heads", "#CC79A7", "D"),
    ALL_LATER: Role("all later heads", "black", "s"),
}
LAYER_LOOK = Role("later heads of layer {}", "#56B4E9")
COST_LOOK = Role("what ablating the core costs: full minus ablated", "0.9")
NO_HEADS = "no later heads of a core"
WIDTH = 0.8  # of the marks of one group, groups being 1 apart
COLUMNS = ["ft_seed", "direction", "group", "set", "role", "size", "n", "full", "ablated", "patched"]
COLUMNS += [f"{name}{end}" for name in ("points", "share") for end in ("", "_low", "_high")]


def draw(tables, settings, context):
    """Draw a row for each fine-tuning seed and a column for each direction.

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
    rows = rows[(rows["core"] == LEARNED) & (rows["measure"] == ACCURACY) & rows["role"].isin([*LOOKS, LAYER])]
    rows = rows[rows["subset"].isna() & rows["family"].isna() & rows["group"].isin(MEASURED)]
    seeds = ft_seeds(require_rows(tables["core"], "rows in table core"))
    figure, axes = make_panels(settings, len(seeds), len(DIRECTIONS), 2.3 * len(seeds) + 0.9, sharex=True, sharey=True)
    groups = [group for group in MEASURED if (rows["group"] == group).any()]
    for row, ft_seed in zip(axes, seeds, strict=True):
        for ax, direction in zip(row, DIRECTIONS, strict=True):
            panel_rows = rows[(rows["ft_seed"] == ft_seed) & (rows["direction"] == direction)]
            _draw_panel(ax, panel_rows, groups if len(panel_rows) else [])
            ax.set_title(f"{format_seed(ft_seed)}: {direction if len(panel_rows) else NO_HEADS}", loc="left")
            ax.set(ylabel="points")
            ax.set_xticks(range(len(groups)), [ROLES[group].label for group in groups])
            ax.label_outer()
    figure.legend(handles=_legend_handles(rows), loc="outside upper center", ncols=2)
    return figure, rows[COLUMNS]


def _draw_panel(ax: Axes, rows: pd.DataFrame, groups: list[str]) -> None:
    """Draw the cost of ablating the core as bars, and sets of later heads as marks with intervals."""
    ax.axhline(0, color="0.5", linewidth=0.6)
    sets = rows[rows["role"] != RANDOM]["set"].drop_duplicates().tolist()
    offsets = WIDTH * (np.arange(len(sets) + 1) - len(sets) / 2) / (len(sets) + 1)
    places = dict(zip([*sets, RANDOM], offsets, strict=True))
    for k, group in enumerate(groups):
        group_rows = rows[rows["group"] == group]
        cost = (group_rows["full"] - group_rows["ablated"]).iloc[0]
        ax.bar(k, cost, WIDTH, color=COST_LOOK.colour, zorder=0)
        random = group_rows[group_rows["role"] == RANDOM]["points"]
        ax.scatter(np.full(len(random), k + places[RANDOM]), random, 8, LOOKS[RANDOM].colour, linewidths=0, alpha=0.7)
        for name, set_rows in group_rows[group_rows["role"] != RANDOM].groupby("set", sort=False):
            look, x = _set_look(set_rows["role"].iloc[0], name), k + places[name]
            ax.vlines(x, set_rows["points_low"], set_rows["points_high"], look.colour, linewidth=1)
            size = 4 if look.label else 5.5
            ax.plot(x, set_rows["points"].iloc[0], marker=look.marker, color=look.colour, markersize=size)


def _set_look(role: str, name: str) -> Role:
    """Return the look of a set; the mark of a layer is its number."""
    return LAYER_LOOK._replace(marker=_number_marker(name.split()[-1]), label="") if role == LAYER else LOOKS[role]


def _number_marker(number: str) -> MarkerStyle:
    """Return a mark that shows a number. Texts of figures are not parsed as formulas, but this mark is one."""
    with matplotlib.rc_context({"text.parse_math": True}):
        return MarkerStyle(f"${number}$")


def _legend_handles(rows: pd.DataFrame) -> list:
    """Return the legend entries of what is drawn."""
    handles = [Patch(color=COST_LOOK.colour, label=COST_LOOK.label)]
    if (rows["role"] == LAYER).any():
        mark = {"marker": _number_marker("1"), "label": "later heads of layer 1, 2, ...", "markersize": 5.5}
        handles.append(Line2D([], [], linestyle="", color=LAYER_LOOK.colour, **mark))
    for role, look in LOOKS.items():
        if (rows["role"] == role).any():
            handles.append(Line2D([], [], linestyle="", color=look.colour, marker=look.marker, label=look.label))
    return handles
