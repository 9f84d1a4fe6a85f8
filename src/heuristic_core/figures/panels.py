"""Grids of panels, and what is written on them."""

from collections.abc import Iterable
from textwrap import fill

import numpy as np
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from heuristic_core.figures.style import SMALL

MAX_PIXELS = 60_000  # of a figure's height; matplotlib draws up to 65,535


def panels(settings, rows: int, columns: int, height: float, **options) -> tuple[Figure, np.ndarray]:
    """A figure and its axes [rows, columns]. height: inches, unless `settings` says another.

    options: as of ``Figure.subplots``.
    """
    height = min(height, MAX_PIXELS / settings.dpi)
    figure = Figure(figsize=(settings.width, settings.height or height), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False, **options)
    sns.despine(figure)
    return figure, axes


def wrapped(settings, count: int, height: float, **options) -> tuple[Figure, list[Axes]]:
    """A figure and `count` axes, two in a row. height: inches of a row."""
    columns = min(count, 2)
    rows = -(-count // columns)
    figure, axes = panels(settings, rows, columns, rows * height, **options)
    for unused in axes.flat[count:]:
        unused.remove()
    return figure, list(axes.flat[:count])


def upright_height(names: Iterable[str]) -> float:
    """Inches that the longest of `names` takes, written upright in the size of tick labels."""
    return max(map(len, names)) * SMALL * 0.6 / 72


def percent_axis(axis, values: Iterable[float] = ()) -> None:
    """Ticks at every quarter of 0-100. A margin keeps marks at 0 and 100 whole; no value is in it.

    values: the values drawn; J may be below 0, and then the axis begins there.
    """
    lowest = min(0.0, np.nanmin([0.0, *values]))
    axis.axes.set_ylim(lowest - 3, 103)
    axis.set_ticks([tick for tick in range(-100, 101, 25) if tick >= lowest])


def spread_out(values: Iterable[float], spacing: float, high: float) -> np.ndarray:
    """Positions near `values`, in their order, at least `spacing` apart and at most `high`: where labels go."""
    values = np.asarray(list(values), dtype=float)
    order = np.argsort(values, kind="stable")
    placed = values[order]
    for k in range(1, len(placed)):
        placed[k] = max(placed[k], placed[k - 1] + spacing)
    placed[-1:] = np.minimum(placed[-1:], high)
    for k in range(len(placed) - 2, -1, -1):
        placed[k] = min(placed[k], placed[k + 1] - spacing)
    positions = np.empty_like(placed)
    positions[order] = placed
    return positions


def noted(ax: Axes, reason: str) -> None:
    """Write into a panel without marks why it has none; its axes stay, as other panels share them."""
    text = {"ha": "center", "va": "center", "fontsize": SMALL, "color": "0.3"}
    ax.text(0.5, 0.5, fill(reason, 26), transform=ax.transAxes, **text)
