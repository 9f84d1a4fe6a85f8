"""How what is compared looks wherever it appears."""

from typing import NamedTuple


class Role(NamedTuple):
    """The look of a group of subsets, or of another kind of line. Readable without colour."""

    label: str
    colour: str
    marker: str = ""
    line: str = "-"
