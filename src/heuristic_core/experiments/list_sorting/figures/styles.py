"""Colours, markers and lines that all figures share."""

from collections.abc import Iterable

import pandas as pd
from matplotlib.axes import Axes

from heuristic_core.experiments.list_sorting.modes import COPIES, OTHER, SUPPRESSES
from heuristic_core.figures.roles import Role

# Okabe and Ito's palette. A colour has one meaning in all figures; "black" stands for a whole model.
HEADS = {
    COPIES: Role("head that copies most", "#0072B2"),
    SUPPRESSES: Role("head that suppresses most", "#D55E00", line="--"),
    OTHER: Role("other heads, their mean", "#999999", line=":"),
}
# Kinds of training: Paul Tol's muted palette, whose colours have no other meaning here.
TRAININGS = ("#332288", "#117733", "#AA4499", "#999933", "#882255", "#44AA99", "#661100", "#6699CC")
MARKERS = ("o", "^", "s", "D", "v", "P", "X", "p", "<", "*", ">", "h", "d", "8")
KINDS = {
    "zero": Role("zero", "#E69F00", "o", ""),
    "mean": Role("mean", "#009E73", "s", ""),
    "resample": Role("resample", "#CC79A7", "D", ""),
}


def assign_markers(labels: Iterable[str]) -> dict[str, str]:
    """Return a marker for each label; 14 are distinct."""
    return {label: MARKERS[k % len(MARKERS)] for k, label in enumerate(labels)}


def condition_names(rows: pd.DataFrame) -> list[str]:
    """Return the conditions of `rows` in their order, which is the configuration's."""
    return rows["condition"].drop_duplicates().tolist()


def label_lowest(column: Iterable[Axes], label: str) -> None:
    """Label the x axis of a column's lowest panel with axes, which may be above the panels that share it.

    Args:
        column: Panels of the column, from top to bottom.
        label: Text of the label.
    """
    (*_, lowest) = [ax for ax in column if ax.axison] or column
    lowest.set_xlabel(label, visible=True)
    lowest.tick_params("x", which="both", labelbottom=True)
