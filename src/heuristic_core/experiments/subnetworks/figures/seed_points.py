"""Values of pruning seeds at checkpoints: points side by side, their mean a dash, undefined values hatched."""

from collections.abc import Collection
from itertools import pairwise

import pandas as pd
from matplotlib.axes import Axes

SPACING, MAX_SPACING = 0.26, 0.028  # between groups: share of the closest checkpoints' distance, and of the range
MIN_TICK_DISTANCE = 0.12  # of two labels, as a share of the range of checkpoints
MEAN_STYLE = {"marker": "_", "markersize": 9, "markeredgewidth": 2, "linewidth": 1.2, "alpha": 0.9}
SEED_STYLE = {"linestyle": "", "marker": "o", "markersize": 3.4, "markeredgewidth": 0.8}
HATCH = "//////"


def space_groups(range_of_steps: float, checkpoints: Collection[int]) -> float:
    """Return the distance of two groups of one checkpoint, in steps.

    Args:
        range_of_steps: Distance of the first and the last step.
        checkpoints: Steps of the checkpoints.
    """
    steps = sorted({*checkpoints})
    closest = min((after - before for before, after in pairwise(steps)), default=float("inf"))
    return min(SPACING * closest, MAX_SPACING * range_of_steps)


def mark_checkpoints(ax: Axes, checkpoints: Collection[int]) -> None:
    """Put a tick and a light line at each checkpoint, since groups are drawn beside it; many keep automatic ticks.

    Args:
        ax: Panel.
        checkpoints: Steps of the checkpoints.
    """
    steps = sorted({*checkpoints})
    for step in steps:
        ax.axvline(step, color="0.9", linewidth=0.8, zorder=0)
    closest = min((after - before for before, after in pairwise(steps)), default=0)
    if closest > MIN_TICK_DISTANCE * (steps[-1] - steps[0]):
        ax.set_xticks(steps)


def spread_seeds(seeds: pd.DataFrame, spacing: float) -> pd.Series:
    """Return horizontal positions of pruning seeds: side by side around the position of their group.

    Args:
        seeds: Columns step, seed and x, the position of the group.
        spacing: Distance of two groups, in steps.
    """
    rank = seeds.groupby("step")["seed"].rank(method="first")
    count = seeds.groupby("step")["seed"].transform("size")
    return seeds["x"] + ((rank - (count + 1) / 2) * 0.6 * spacing / count).astype(float)


def hatch_undefined(ax: Axes, x: pd.Series, spacing: float, colour: str) -> None:
    """Hatch the places of undefined values over the whole height of a panel, whose limits stay.

    Args:
        ax: Panel.
        x: Positions of the undefined values.
        spacing: Distance of two groups, in steps.
        colour: Colour of the hatching.
    """
    top = ax.get_xaxis_transform()
    style = {"fill": False, "hatch": HATCH, "edgecolor": colour, "linewidth": 0, "alpha": 0.6}
    ax.bar(x, 1, 0.85 * spacing, transform=top, **style)
