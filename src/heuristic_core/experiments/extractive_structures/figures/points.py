"""Panels of points: for each name of an axis the value of every seed, their mean and its interval."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from heuristic_core.figures.lines import handles
from heuristic_core.figures.roles import Role
from heuristic_core.figures.seeds import with_means

WIDTH = 0.6  # of the marks of one name, names being 1 apart
MARGIN = 0.06  # beside the points, of their range
CHANCE = {"color": "0.6", "linewidth": 0.8, "linestyle": ":", "zorder": 0}


def of_ranks(rows: pd.DataFrame, by: Sequence[str], options: int) -> pd.DataFrame:
    """Column `rank` among so many options as `value`, with means, as of :func:`figures.seeds.with_means`.

    No interval reaches beyond possible ranks, and seeds that agree exactly have none: they may agree by chance.
    """
    found = with_means(rows.rename(columns={"rank": "value"}), by)
    equal = found["low"] == found["high"]
    return found.assign(**{end: found[end].mask(equal).clip(0, options - 1) for end in ("low", "high")})


def points(ax: Axes, rows: pd.DataFrame, x: str, names: Sequence[str], by: str, looks: Mapping[str, Role]) -> None:
    """`value` of `rows`, as of :func:`figures.seeds.with_means`, by the names of column `x`, side by side by `by`."""
    beside = np.linspace(-WIDTH / 2, WIDTH / 2, len(looks) + 2)[1:-1]
    for (key, look), side in zip(looks.items(), beside, strict=True):
        own = rows[rows[by] == key]
        own = own.assign(x=own[x].map({name: k + side for k, name in enumerate(names)}).astype(float))
        means, seeds = own[own["seed"].isna()], own[own["seed"].notna()]
        ax.vlines(means["x"], means["low"], means["high"], look.colour, linewidth=0.9)
        ax.plot(means["x"], means["value"], look.marker, color=look.colour, markersize=3.5)
        ax.plot(seeds["x"], seeds["value"], "_", color=look.colour, markersize=4, markeredgewidth=0.6)
    ax.set_xticks(range(len(names)), names)
    ax.set_xlim(-0.6, len(names) - 0.4)


def fit(axes: Sequence[Axes], values: pd.Series, *levels: float) -> None:
    """Points and `levels` fill the axes; an interval of few seeds can be many times as wide, and is cut off."""
    known = [*values.dropna(), *levels]
    low, high = min(known), max(known)
    margin = MARGIN * ((high - low) or 1)
    for ax in axes:
        ax.set_ylim(low - margin, high + margin)


def legend(looks: Mapping[str, Role], *more: Line2D) -> list[Line2D]:
    """What a legend shows for points of `looks`, and `more` lines."""
    bare = {key: look._replace(line="") for key, look in looks.items()}
    one = Line2D([], [], color="black", marker="_", linestyle="", label="one seed", markersize=4)
    return [*handles(bare, markersize=3.5), one, *more]


def of_chance() -> Line2D:
    """What a legend shows for the level of chance."""
    return Line2D([], [], label="chance", **CHANCE)


def level(ax: Axes, value: float) -> None:
    """The level of chance, a line across the panel."""
    ax.axhline(value, **CHANCE)
