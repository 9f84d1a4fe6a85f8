"""Select the rows of a split by the conditions of its key `where`."""

import re
from collections.abc import Mapping, Sequence

from heuristic_core.data.columns import Columns, DataError, parse_number

MAX_LISTED_VALUES = 10  # values of a column in a message


class RowFilter:
    """Select rows whose columns meet the conditions of `where`.

    Args:
        where: Column -> a list of accepted values, or a regular expression that the value must contain.
    """

    def __init__(self, where: Mapping[str, str | Sequence[str | int]]):
        self._where = dict(where)
        # column -> value -> whether it matches
        self._seen: dict[str, dict[str, bool]] = {column: {} for column in where}
        self._any_selected = False

    @property
    def columns(self) -> list[str]:
        """Columns that have a condition."""
        return list(self._where)

    def select_rows(self, data: Columns, count: int) -> list[bool]:
        """Return for each of the `count` rows of a file whether it meets all conditions; nulls meet none.

        Args:
            data: The columns of the conditions.
            count: Number of rows of the file.
        """
        selected = [True] * count
        for column, condition in self._where.items():
            matches = self._seen[column]
            texts = [None if value is None else str(value) for value in data.values[column]]
            matches |= {
                text: _matches(text, condition) for text in dict.fromkeys(texts) if text not in matches | {None: False}
            }
            selected = [
                is_selected and matches.get(text, False) for is_selected, text in zip(selected, texts, strict=True)
            ]
        self._any_selected |= any(selected)
        return selected

    def check(self, source: str) -> None:
        """Check that every condition matched a row; call after all rows of `source` have been read.

        Raises:
            DataError: a listed value or pattern matched no row, or no row met all conditions.
        """
        for column, condition in self._where.items():
            seen = self._seen[column]
            values = [] if isinstance(condition, str) else condition
            unmatched = [value for value in values if not any(_equals(text, value) for text in seen)]
            if unmatched or not any(seen.values()):
                value_or_pattern = unmatched[0] if unmatched else condition
                raise DataError(
                    f"{source}: where.{column} = {value_or_pattern!r} fits no row; {column} has {_format_values(seen)}"
                )
        if self._where and not self._any_selected:
            raise DataError(f"{source}: no row fits all of where = {self._where}; each condition alone fits some rows")


def _matches(text: str, condition: str | Sequence[str | int]) -> bool:
    if isinstance(condition, str):
        return bool(re.search(condition, text))
    return any(_equals(text, value) for value in condition)


def _equals(text: str, value: str | int) -> bool:
    """Return whether a text equals `value`: numbers in any spelling (1.0 equals 1), texts exactly."""
    return text == value if isinstance(value, str) else parse_number(text) == value


def _format_values(seen: Mapping[str, bool]) -> str:
    names = sorted(seen)
    more = f" and {len(names) - MAX_LISTED_VALUES} more" if len(names) > MAX_LISTED_VALUES else ""
    return ", ".join(map(repr, names[:MAX_LISTED_VALUES])) + more or "no value"
