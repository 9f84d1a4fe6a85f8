"""Colours, markers and lines that all figures share."""

from collections.abc import Iterable

import pandas as pd

from heuristic_core.experiments.list_sorting.modes import COPIES, OTHER, SUPPRESSES
from heuristic_core.figures.roles import Role

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


def assign_looks(labels: Iterable[str]) -> dict[str, Role]:
    """Return a colour and a marker for each label, without a line; 56 are distinct."""
    looks = {}
    for k, label in enumerate(labels):
        marker = MARKERS[(k + k // len(COLOURS)) % len(MARKERS)]
        looks[label] = Role(label, COLOURS[k % len(COLOURS)], marker, "")
    return looks


def condition_names(rows: pd.DataFrame) -> list[str]:
    """Return the conditions of `rows` in their order, which is the configuration's."""
    return rows["condition"].drop_duplicates().tolist()
