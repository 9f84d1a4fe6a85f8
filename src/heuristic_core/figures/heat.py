"""Heat maps of counts, with the number in every cell."""

import matplotlib
import numpy as np
from matplotlib.axes import Axes

from heuristic_core.figures.style import SMALL, ink

COLOURS = "Blues"


def heat_map(ax: Axes, counts: np.ndarray, largest: float):
    """Draw `counts` [rows, columns], row 0 at the bottom, null cells blank, on a scale from 0 to `largest`.

    Returns the mesh, for a colour bar.
    """
    rows, columns = counts.shape
    # The palest part of the map is left to blank cells, the darkest would swallow text.
    colours = matplotlib.colormaps[COLOURS].resampled(256)(np.linspace(0.06, 0.88, 256))
    colours = matplotlib.colors.ListedColormap(colours)
    masked = np.ma.masked_invalid(counts)
    mesh = ax.pcolormesh(masked, cmap=colours, vmin=0, vmax=largest, edgecolors="white", linewidth=0.5)
    for row, column in zip(*np.nonzero(~np.isnan(counts)), strict=True):
        count = counts[row, column]
        colour = ink(colours(count / largest))
        place = {"ha": "center", "va": "center_baseline", "in_layout": False}  # inside anyway; saves time
        ax.text(column + 0.5, row + 0.5, f"{count:g}", fontsize=SMALL, color=colour, **place)
    ax.set_xticks(np.arange(columns) + 0.5, range(columns))
    ax.set_yticks(np.arange(rows) + 0.5, range(rows))
    ax.tick_params(length=0)
    ax.set_aspect("equal")
    return mesh
