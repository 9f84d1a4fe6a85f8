"""Grids of panels, their axes and texts."""

from collections.abc import Iterable
from textwrap import fill
from typing import Any

import numpy as np
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure

from heuristic_core.config.figure import Figure as FigureSettings
from heuristic_core.figures.style import SMALL_FONT_SIZE

_MAX_HEIGHT_PIXELS = 60_000  # matplotlib's limit is 65,535


def make_panels(
    settings: FigureSettings, rows: int, columns: int, height: float, **options: Any
) -> tuple[Figure, np.ndarray]:
    """Make a figure with a grid of panels.

    Args:
        settings: Settings with width (inches) and dpi of the figure, and a height that replaces `height` if set.
        rows: Number of rows.
        columns: Number of columns.
        height: Height of the figure, inches.
        **options: Passed to ``Figure.subplots``.

    Returns:
        The figure and its axes [rows, columns].
    """
    height = min(height, _MAX_HEIGHT_PIXELS / settings.dpi)
    figure = Figure(figsize=(settings.width, settings.height or height), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False, **options)
    sns.despine(figure)
    return figure, axes


def make_wrapped_panels(
    settings: FigureSettings, count: int, height: float, **options: Any
) -> tuple[Figure, list[Axes]]:
    """Make a figure with `count` panels, two in a row.

    Args:
        settings: See :func:`make_panels`.
        count: Number of panels.
        height: Height of a row, inches.
        **options: Passed to ``Figure.subplots``.
    """
    columns = min(count, 2)
    rows = -(-count // columns)
    figure, axes = make_panels(settings, rows, columns, rows * height, **options)
    for unused in axes.flat[count:]:
        unused.remove()
    return figure, list(axes.flat[:count])


def vertical_label_height(names: Iterable[str]) -> float:
    """Return the height in inches of the longest of `names` as a vertical tick label."""
    return max(map(len, names)) * SMALL_FONT_SIZE * 0.6 / 72


def set_percent_axis(axis: Axis, values: Iterable[float] = ()) -> None:
    """Set the limits and ticks of an axis of percentages, 0-100, with a margin for marks at its ends.

    Args:
        axis: Vertical axis.
        values: Values drawn; the axis begins at the lowest if it is below 0, as Youden's J may be.
    """
    lowest = min(0.0, np.nanmin([0.0, *values]))
    axis.axes.set_ylim(lowest - 3, 103)
    axis.set_ticks([tick for tick in range(-100, 101, 25) if tick >= lowest])


def spread_labels(values: Iterable[float], spacing: float, high: float) -> np.ndarray:
    """Return positions of labels near values, in the values' order.

    Args:
        values: Heights of what the labels name.
        spacing: Least distance of two labels, in the unit of the values.
        high: Highest position of a label; infinity for no limit.
    """
    values = np.asarray(list(values), dtype=float)
    order = np.argsort(values, kind="stable")
    sorted_positions = values[order]
    for k in range(1, len(sorted_positions)):
        sorted_positions[k] = max(sorted_positions[k], sorted_positions[k - 1] + spacing)
    sorted_positions[-1:] = np.minimum(sorted_positions[-1:], high)
    for k in range(len(sorted_positions) - 2, -1, -1):
        sorted_positions[k] = min(sorted_positions[k], sorted_positions[k + 1] - spacing)
    positions = np.empty_like(sorted_positions)
    positions[order] = sorted_positions
    return positions


def annotate_empty(ax: Axes, reason: str) -> None:
    """Write into a panel why it has no marks. Its axes stay visible, since other panels share them.

    Args:
        ax: Axes of the panel.
        reason: Text, which is wrapped.
    """
    text = {"ha": "center", "va": "center", "fontsize": SMALL_FONT_SIZE, "color": "0.3"}
    ax.text(0.5, 0.5, fill(reason, 26), transform=ax.transAxes, **text)
