"""What ablating the core costs, against settings in which studies differ."""

from collections.abc import Mapping, Sequence

import pandas as pd
from matplotlib.axes import Axes

from heuristic_core.config.figure import Figure
from heuristic_core.experiments.subnetworks.analysis.sweep import GROUPS, compute_sweep
from heuristic_core.experiments.subnetworks.figures.heads import CORE_COLOUR, RANDOM_COLOUR
from heuristic_core.experiments.subnetworks.figures.roles import ROLES
from heuristic_core.figures.drawing import Drawing
from heuristic_core.figures.lines import draw_lines, legend_handles
from heuristic_core.figures.panels import make_panels
from heuristic_core.figures.roles import Role

LOOKS = {
    # What there is to lose is a limit, no result.
    "full": Role("all that there is to lose", "#56B4E9", "v", ":"),
    "random": Role("random sets of the same layers, mean", RANDOM_COLOUR, "s", "--"),
    "change": Role("without the core, 95 % interval", CORE_COLOUR, "o"),
}
LINE_STYLE = {"linewidth": 0.8, "markersize": 3.5}


def draw(tables: Sequence[pd.DataFrame], settings: Figure, studies: Mapping[str, Mapping[str, float]]) -> Drawing:
    """Draw a row for each setting and a column for each group of subsets, in panels a line for each fine-tuning seed.

    Args:
        tables: Table "ablations" of every study.
        settings: The figure's settings.
        studies: The studies' values on every axis, by name.

    Returns:
        The figure and its marks, the rows of `analysis.sweep`.
    """
    rows = compute_sweep(tables, studies)
    swept = rows["axis"].unique()
    height = 1.9 * len(swept) + 0.4
    figure, axes = make_panels(settings, len(swept), len(GROUPS), height, sharey=True, sharex="row")
    for line, axis in zip(axes, swept, strict=True):
        axis_rows = rows[rows["axis"] == axis]
        values = sorted(axis_rows["value"].unique())
        for ax, group in zip(line, GROUPS, strict=True):
            _draw_panel(ax, axis_rows[axis_rows["group"] == group])
            ax.set_title(ROLES[group].label, loc="left")
            ax.set(xlabel=axis, ylabel="")
        line[0].set_xticks(values, [f"{value:g}" for value in values])
        line[0].set_ylabel("change (points)")
    handles = legend_handles(LOOKS, **LINE_STYLE)
    title = "a line for each fine-tuning seed"
    figure.legend(handles=handles, loc="outside upper center", ncols=len(LOOKS), title=title)
    return figure, rows


def _draw_panel(ax: Axes, rows: pd.DataFrame) -> None:
    """Draw the changes in one group against one setting."""
    ax.axhline(0, color="0.8", linewidth=0.6, zorder=0)
    points = (
        rows.assign(full=-rows["full"])
        .melt(["value", "ft_seed"], list(LOOKS), "kind", "points")
        .sort_values(["kind", "ft_seed", "value"], kind="stable")
    )
    points = points.assign(line=points["kind"] + points["ft_seed"].astype(str))
    draw_lines(ax, points, "value", "points", "kind", LOOKS, unit="line", **LINE_STYLE)
    ax.vlines(rows["value"], rows["low"], rows["high"], color=LOOKS["change"].colour, linewidth=0.8)
