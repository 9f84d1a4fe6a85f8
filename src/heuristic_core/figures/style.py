"""One look for all figures: sizes for a printed column."""

from contextlib import AbstractContextManager

import matplotlib.colors
import matplotlib.style

SMALL = 7  # points; text is never smaller

RC = {
    "font.family": "DejaVu Sans",  # comes with matplotlib, so that figures are the same everywhere
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
    "legend.fontsize": SMALL,
    "legend.title_fontsize": SMALL,
    "legend.frameon": False,
    "legend.handlelength": 2.6,
    "figure.titlesize": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
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
    "pdf.compression": 0,  # what it compresses to depends on the system's zlib
    "svg.hashsalt": "heuristic-core",  # identifiers in an SVG are random without it
}


def ink(ground) -> str:
    """Black or white, whichever has the higher contrast (WCAG 2) with the colour `ground`."""
    linear = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in matplotlib.colors.to_rgb(ground))
    luminance = sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
    return "black" if luminance > 0.179 else "white"


def applied() -> AbstractContextManager:
    """Within it matplotlib's own defaults and `RC` hold, whatever the user's settings are."""
    return matplotlib.style.context(["default", RC])
