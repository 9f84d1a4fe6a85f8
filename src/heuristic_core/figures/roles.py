"""Looks of compared groups, the same in all figures."""

from typing import NamedTuple


class Role(NamedTuple):
    """The look of a group of subsets, or of another kind of line. Marker or line distinguish it without colour.

    Attributes:
        label: Name in legends.
        colour: matplotlib colour.
        marker: matplotlib marker; empty for none.
        line: matplotlib line style.
    """

    label: str
    colour: str
    marker: str = ""
    line: str | tuple = "-"
