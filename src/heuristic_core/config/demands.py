"""What a study's settings ask of its data."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple


class Demands(NamedTuple):
    """pairs: settings, as messages name them -> training pairs that each needs at least. subsets: settings -> the
    evaluation subsets that each names. groups: of evaluation pairs, those that must have one.
    """

    pairs: Mapping[str, int] = {}
    subsets: Mapping[str, Sequence[str]] = {}
    groups: Collection[str] = ()


NONE = Demands()
