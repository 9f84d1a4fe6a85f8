"""Heat maps of counts, with the number in every cell."""

import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.colors import ListedColormap

from heuristic_core.figures.style import SMALL, ink

# The palest part of the map is left to blank cells, the darkest would swallow text.
COLOURS = ListedColormap(sns.color_palette("Blues", as_cmap=True)([0.06 + 0.82 * k / 255 for k in range(256)]))


def heat_map(ax: Axes, counts: pd.DataFrame, largest: float) -> QuadMesh:
    """Draw `counts`, its first row at the bottom, null cells blank, on a scale from 0 to `largest`.

    The names of its index and columns label the axes. Returns the cells, for a colour bar.
    """
    text = {"fontsize": SMALL, "va": "center_baseline", "in_layout": False}  # inside anyway; saves time
    sns.heatmap(
        counts, vmin=0, vmax=largest, cmap=COLOURS, annot=True, fmt="g", annot_kws=text, linewidths=0.5, square=True,
        cbar=False, xticklabels=True, yticklabels=True, ax=ax,
    )  # fmt: skip
    ax.invert_yaxis()
    ax.tick_params(length=0, rotation=0)
    (cells,) = ax.collections
    # seaborn's own white is hard to read on cells of medium darkness.
    for number, ground in zip(ax.texts, cells.get_facecolors()[counts.notna().to_numpy().ravel()], strict=True):
        number.set_color(ink(ground))
    return cells
