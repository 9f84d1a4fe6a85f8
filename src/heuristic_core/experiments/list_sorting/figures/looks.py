"""How what is compared looks in every figure, and what is written where there is nothing to compare."""

from collections.abc import Iterable
from textwrap import fill

from matplotlib.axes import Axes

from heuristic_core.experiments.list_sorting.modes import COPIES, OTHER, SUPPRESSES
from heuristic_core.figures.roles import Role
from heuristic_core.figures.style import SMALL

# Okabe and Ito's palette.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "black", "#999999")
MARKERS = ("o", "^", "s", "D", "v", "P", "X")
HEADS = {
    COPIES: Role("head that copies most", "#0072B2"),
    SUPPRESSES: Role("head that suppresses most", "#D55E00", line="--"),
    OTHER: Role("other heads, their mean", "#999999", line=":"),
}
KINDS = {
    "zero": Role("zero", "#E69F00", "o", ""),
    "mean": Role("mean", "#009E73", "s", ""),
    "resample": Role("resample", "#CC79A7", "D", ""),
}


def told_apart(labels: Iterable[str]) -> dict[str, Role]:
    """A look for each of `labels`: a colour and a marker, without a line; 56 are different."""
    found = {}
    for k, label in enumerate(labels):
        marker = MARKERS[(k + k // len(COLOURS)) % len(MARKERS)]
        found[label] = Role(label, COLOURS[k % len(COLOURS)], marker, "")
    return found


def noted(ax: Axes, reason: str) -> None:
    """Write into a panel without marks why it has none; its axes stay, as other panels share them."""
    text = {"ha": "center", "va": "center", "fontsize": SMALL, "color": "0.3"}
    ax.text(0.5, 0.5, fill(reason, 26), transform=ax.transAxes, **text)
