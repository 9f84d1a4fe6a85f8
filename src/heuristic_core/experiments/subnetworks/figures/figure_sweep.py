"""What ablating the core costs, against settings in which studies differ."""

import pandas as pd
from matplotlib.axes import Axes

from heuristic_core.experiments.subnetworks.analysis.sweep import GROUPS, sweep
from heuristic_core.experiments.subnetworks.figures.roles import ROLES
from heuristic_core.figures.lines import draw_lines, legend_handles
from heuristic_core.figures.panels import make_panels
from heuristic_core.figures.roles import Role

LOOKS = {
    # Okabe and Ito's palette, without the colours of groups of subsets; what there is to lose is a limit, no result.
    "full": Role("all that there is to lose", "0.6", line=":"),
    "random": Role("random sets of the same layers, mean", "#E69F00", "s", "--"),
    "change": Role("without the core", "black", "o"),
}


def draw(tables, settings, studies):
    """Draw a row for each setting and a column for each group of subsets.

    Lines are means over fine-tuning seeds; points are fine-tuning seeds, with the interval of the change.

    Args:
        tables: Table "ablations" of every study.
        settings: The figure's settings.
        studies: The studies' values on every axis, by name.

    Returns:
        The figure and its marks, the rows of `analysis.sweep`.
    """
    rows = sweep(tables, studies)
    swept = rows["axis"].unique()
    height = 1.9 * len(swept) + 0.4
    figure, axes = make_panels(settings, len(swept), len(GROUPS), height, sharey=True, sharex="row")
    for line, axis in zip(axes, swept, strict=True):
        axis_rows = rows[rows["axis"] == axis]
        for ax, group in zip(line, GROUPS, strict=True):
            _draw_panel(ax, axis_rows[axis_rows["group"] == group])
            ax.set_title(ROLES[group].label, loc="left")
            ax.set_xlabel(axis)
        line[0].set_ylabel("change (points)")
    figure.legend(handles=legend_handles(LOOKS), loc="outside upper center", ncols=len(LOOKS))
    return figure, rows


def _draw_panel(ax: Axes, rows: pd.DataFrame) -> None:
    """Draw the changes in one group against one setting."""
    ax.axhline(0, color="0.8", linewidth=0.6, zorder=0)
    values = rows.assign(full=-rows["full"])
    means = values.groupby("value")[[*LOOKS]].mean().reset_index()
    plain = {name: look._replace(marker="") for name, look in LOOKS.items()}
    draw_lines(ax, means.melt("value", var_name="kind", value_name="points"), "value", "points", "kind", plain)
    complete = rows.dropna(subset="change")
    for name in ("random", "change"):
        ax.plot(complete["value"], complete[name], LOOKS[name].marker, color=LOOKS[name].colour, markersize=3)
    ax.vlines(complete["value"], complete["low"], complete["high"], color=LOOKS["change"].colour, linewidth=0.8)
