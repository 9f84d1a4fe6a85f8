"""Which rows of a split are read, as its key `where` says of their columns."""

import re
from collections.abc import Mapping, Sequence

from heuristic_core.tasks.columns import Columns, DataError, number_of

SHOWN = 10  # values of a column that a message lists


class Choice:
    """Rows whose columns have the values that `where` asks for: one of a list, or one in which a pattern is found."""

    def __init__(self, where: Mapping[str, str | Sequence[str | int]]):
        self._where = dict(where)
        self._fits: dict[str, dict[str, bool]] = {column: {} for column in where}  # by every value seen
        self._any = False

    @property
    def columns(self) -> list[str]:
        return list(self._where)

    def of(self, found: Columns, count: int) -> list[bool]:
        """Of each of the `count` rows of a file, whether it is chosen. A null fits nothing."""
        chosen = [True] * count
        for column, wanted in self._where.items():
            fits = self._fits[column]
            texts = [None if value is None else str(value) for value in found.values[column]]
            fits |= {text: _fits(text, wanted) for text in dict.fromkeys(texts) if text not in fits | {None: False}}
            chosen = [one and fits.get(text, False) for one, text in zip(chosen, texts, strict=True)]
        self._any |= any(chosen)
        return chosen

    def check(self, source: str) -> None:
        """Once all rows of `source` were read: raise DataError where a value that is asked for never was there."""
        for column, wanted in self._where.items():
            seen = self._fits[column]
            values = [] if isinstance(wanted, str) else wanted
            lacking = [value for value in values if not any(_is(text, value) for text in seen)]
            if lacking or not any(seen.values()):
                asked = lacking[0] if lacking else wanted
                raise DataError(f"{source}: where.{column} = {asked!r} fits no row; {column} has {_listed(seen)}")
        if self._where and not self._any:
            raise DataError(f"{source}: no row fits all of where = {self._where}; each of them fits some rows")


def _fits(text: str, wanted: str | Sequence[str | int]) -> bool:
    return bool(re.search(wanted, text)) if isinstance(wanted, str) else any(_is(text, one) for one in wanted)


def _is(text: str, wanted: str | int) -> bool:
    """Whether a value is the one that is asked for: a number in any spelling, 1.0 for 1; a text as it stands."""
    return text == wanted if isinstance(wanted, str) else number_of(text) == wanted


def _listed(seen: Mapping[str, bool]) -> str:
    names = sorted(seen)
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(map(repr, names[:SHOWN])) + more or "no value"
