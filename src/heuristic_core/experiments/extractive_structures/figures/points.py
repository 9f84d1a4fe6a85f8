"""Panels of points: for each name on the x axis, the values of all seeds, their mean and its interval."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from heuristic_core.figures.lines import legend_handles
from heuristic_core.figures.roles import Role
from heuristic_core.figures.seeds import append_means

GROUP_WIDTH = 0.6  # of the marks of a name; the distance between names is 1
MARGIN = 0.06  # beyond the points, share of their range
CHANCE_STYLE = {"color": "0.6", "linewidth": 0.8, "linestyle": ":", "zorder": 0}


def make_rank_marks(rows: pd.DataFrame, by: Sequence[str], options: int) -> pd.DataFrame:
    """Return column `rank` as `value` with means and intervals, see :func:`figures.seeds.append_means`.

    Intervals are clipped to possible ranks. If seeds agree exactly, there is no interval: they may agree by chance.

    Args:
        rows: Table with columns `rank` and `seed`.
        by: Columns that define groups.
        options: Number of options that answers are ranked among.
    """
    marks = append_means(rows.rename(columns={"rank": "value"}), by)
    equal = marks["low"] == marks["high"]
    return marks.assign(**{end: marks[end].mask(equal).clip(0, options - 1) for end in ("low", "high")})


def draw_points(ax: Axes, rows: pd.DataFrame, x: str, names: Sequence[str], by: str, looks: Mapping[str, Role]) -> None:
    """Draw values, means and intervals.

    Args:
        ax: Axes.
        rows: Marks of :func:`figures.seeds.append_means`.
        x: Column with the names of the x axis.
        names: These names, in order.
        by: Column whose values are drawn side by side.
        looks: Colours and markers of these values.
    """
    offsets = np.linspace(-GROUP_WIDTH / 2, GROUP_WIDTH / 2, len(looks) + 2)[1:-1]
    for (key, role), offset in zip(looks.items(), offsets, strict=True):
        group = rows[rows[by] == key]
        group = group.assign(x=group[x].map({name: k + offset for k, name in enumerate(names)}).astype(float))
        means, seeds = group[group["seed"].isna()], group[group["seed"].notna()]
        ax.vlines(means["x"], means["low"], means["high"], role.colour, linewidth=0.9)
        ax.plot(means["x"], means["value"], role.marker, color=role.colour, markersize=3.5)
        ax.plot(seeds["x"], seeds["value"], "_", color=role.colour, markersize=4, markeredgewidth=0.6)
    ax.set_xticks(range(len(names)), names)
    ax.set_xlim(-0.6, len(names) - 0.4)


def fit_limits(axes: Sequence[Axes], values: pd.Series, *levels: float) -> None:
    """Set the y limits to the range of values and levels. Wider intervals, such as those of few seeds, are cut off.

    Args:
        axes: Panels that share the limits.
        values: Values drawn; nulls are ignored.
        *levels: Heights of further marks, such as horizontal lines, in the unit of the values.
    """
    heights = [*values.dropna(), *levels]
    low, high = min(heights), max(heights)
    margin = MARGIN * ((high - low) or 1)
    for ax in axes:
        ax.set_ylim(low - margin, high + margin)


def make_legend_handles(looks: Mapping[str, Role], *more: Line2D) -> list[Line2D]:
    """Return the legend handles for points of `looks`, for a seed, and `more` lines."""
    markers = {key: role._replace(line="") for key, role in looks.items()}
    seed = Line2D([], [], color="black", marker="_", linestyle="", label="one seed", markersize=4)
    return [*legend_handles(markers, markersize=3.5), seed, *more]


def make_chance_handle() -> Line2D:
    """Return the legend handle for the level of chance."""
    return Line2D([], [], label="chance", **CHANCE_STYLE)


def draw_chance_level(ax: Axes, value: float) -> None:
    """Draw the level of chance as a line across the panel.

    Args:
        ax: Panel.
        value: Level of chance, in units of the vertical axis.
    """
    ax.axhline(value, **CHANCE_STYLE)
