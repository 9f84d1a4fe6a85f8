"""Colours, markers and lines that all figures share."""

from collections.abc import Iterable

import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes

from heuristic_core.experiments.list_sorting.modes import COPIES, OTHER, SUPPRESSES
from heuristic_core.figures.roles import Role

# Okabe and Ito's palette. A colour has one meaning in all figures; "black" stands for a whole model.
HEADS = {
    COPIES: Role("head that copies most", "#0072B2"),
    SUPPRESSES: Role("head that suppresses most", "#D55E00", line="--"),
    OTHER: Role("other heads, their mean", "#999999", line=":"),
}
MARKERS = ("o", "^", "s", "D", "v", "P", "X", "p", "<", "*", ">", "h", "d", "8")
KINDS = {
    "zero": Role("zero", "#E69F00", "o", ""),
    "mean": Role("mean", "#009E73", "s", ""),
    "resample": Role("resample", "#CC79A7", "D", ""),
}


def condition_looks(names: Iterable[str]) -> dict[str, Role]:
    """Return a look for each condition, with distinct colours; markers repeat after 14.

    Args:
        names: Names of all conditions, in order.
    """
    names = list(names)
    colours = sns.husl_palette(len(names), l=0.55).as_hex()
    return {name: Role(name, colours[k], MARKERS[k % len(MARKERS)], "") for k, name in enumerate(names)}


def select_end_seeds(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the first and the last seed of each condition."""
    seeds = rows.groupby("condition")["seed"]
    return rows[(rows["seed"] == seeds.transform("min")) | (rows["seed"] == seeds.transform("max"))]


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
