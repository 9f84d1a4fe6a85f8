"""Requirements of a study's settings on its data."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple


class DataRequirements(NamedTuple):
    """What settings require of the data.

    Attributes:
        pairs: Setting, as messages name it -> smallest number of training pairs it needs.
        subsets: Setting -> evaluation subsets it names.
        groups: Groups that need at least one evaluation pair.
    """

    pairs: Mapping[str, int] = {}
    subsets: Mapping[str, Sequence[str]] = {}
    groups: Collection[str] = ()


NO_REQUIREMENTS = DataRequirements()
