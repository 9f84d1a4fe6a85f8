"""Heat maps of counts, with the number in every cell."""

import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.colors import ListedColormap

from heuristic_core.figures.style import SMALL_FONT_SIZE, contrast_colour

# Without the palest part, which looks like a blank cell, and the darkest, on which text is hard to read.
COUNT_COLORMAP = ListedColormap(sns.color_palette("Blues", as_cmap=True)([0.06 + 0.82 * k / 255 for k in range(256)]))


def draw_heat_map(ax: Axes, counts: pd.DataFrame, largest: float) -> QuadMesh:
    """Draw a heat map of counts.

    Args:
        ax: Axes to draw on.
        counts: Counts, first row at the bottom; null cells are blank. Names of index and columns label the axes.
        largest: Upper end of the colour scale, which begins at 0.

    Returns:
        The cells, for a colour bar.
    """
    text = {
        "fontsize": SMALL_FONT_SIZE,
        "va": "center_baseline",
        "in_layout": False,
    }  # the layout need not measure inner texts
    sns.heatmap(
        counts, vmin=0, vmax=largest, cmap=COUNT_COLORMAP, annot=True, fmt="g", annot_kws=text, linewidths=0.5,
        square=True, cbar=False, xticklabels=True, yticklabels=True, ax=ax,
    )  # fmt: skip
    ax.invert_yaxis()
    ax.tick_params(length=0, rotation=0)
    (cells,) = ax.collections
    # seaborn's choice, white, is hard to read on cells of medium darkness.
    backgrounds = cells.get_facecolors()[counts.notna().to_numpy().ravel()]
    for number, background in zip(ax.texts, backgrounds, strict=True):
        number.set_color(contrast_colour(background))
    return cells
