"""Style of all figures: seaborn's theme, in sizes for a printed column."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import matplotlib.style
import seaborn as sns
from seaborn.utils import relative_luminance

if TYPE_CHECKING:
    from matplotlib.typing import ColorType

SMALL_FONT_SIZE = 7  # points; the smallest text

RC = {
    **sns.axes_style("ticks"),
    **sns.plotting_context("paper", font_scale=8 / 9.6),  # 8 points for titles and labels of axes
    "font.family": "DejaVu Sans",  # comes with matplotlib, so that figures are the same everywhere
    "xtick.labelsize": SMALL_FONT_SIZE,
    "ytick.labelsize": SMALL_FONT_SIZE,
    "legend.fontsize": SMALL_FONT_SIZE,
    "legend.title_fontsize": SMALL_FONT_SIZE,
    "legend.frameon": False,
    "legend.handlelength": 2.6,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "lines.linewidth": 1.4,
    "lines.markersize": 4,
    "patch.linewidth": 0.5,
    "hatch.linewidth": 0.5,
    "pdf.fonttype": 42,  # TrueType, so that text can be selected
    "pdf.compression": 0,  # compressed bytes depend on the system's zlib
    "svg.hashsalt": "heuristic-core",  # without it, identifiers in an SVG are random
}


def contrast_colour(background: "ColorType") -> str:
    """Return "black" or "white", whichever has the higher contrast (WCAG 2) with a background colour."""
    return "black" if relative_luminance(background) > 0.179 else "white"


@contextmanager
def use_style(parse_math: bool = True) -> Iterator[None]:
    """Use matplotlib's defaults and `RC` in a block, whatever the user's settings are.

    Args:
        parse_math: Whether $ in a text begins a formula; False if texts contain data, such as prices.
    """
    with matplotlib.style.context(["default", RC | {"text.parse_math": parse_math}]), warnings.catch_warnings():
        # matplotlib warns for every format and character; `glyphs` warns once.
        warnings.filterwarnings("ignore", r"Glyph \d+ .*missing from", UserWarning)
        yield
