"""Columns of a file of sentence pairs, and helpers that the readers of all formats share."""

import gzip
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import IO, NamedTuple, TextIO

from heuristic_core.common.errors import InputError

MAX_LISTED_NAMES = 20  # column names in a message
NUMBER_PATTERN = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d{1,3})?", re.ASCII | re.IGNORECASE)
DELIMITER_NAMES = {",": "commas", "\t": "tabs"}
MAX_SHOWN_CHARACTERS = 60  # of a text that a message quotes


class DataError(InputError):
    """Data do not fit their declaration; the message names the file, column and value."""


class Columns(NamedTuple):
    """The requested columns of a file.

    Attributes:
        values: column -> one value per row.
        classes: column -> label names of 0, 1, ..., if the file stores them.
        torn: number of lines dropped because their number of fields differs from the header's.
        lines: line number on which each row begins; None if the format has no lines.
        keys: keys of each row, for formats whose rows have their own keys (JSON Lines); None for others.
        incomplete_rows: row -> {key: beginning of its value}, for rows that lack one of the columns.
    """

    values: dict[str, list]
    classes: dict[str, list[str]]
    torn: int = 0
    lines: Sequence[int] | None = None
    keys: Sequence[tuple[str, ...]] | None = None
    incomplete_rows: Mapping[int, Mapping[str, str]] = {}

    def describe_row(self, row: int) -> str:
        """Return the row's name in messages: its line number, or its position counted from 1."""
        return f"line {self.lines[row]}" if self.lines else f"row {row + 1}"


def open_text(path: Path, newline: str | None = None) -> TextIO:
    """Open a text file, gzip-compressed or not, and skip the byte order mark that Excel writes.

    Args:
        path: The file; compressed if its name ends in .gz.
        newline: As for :func:`open`.
    """
    return _select_open(path)(path, "rt", encoding="utf-8-sig", newline=newline)


def open_bytes(path: Path) -> IO[bytes]:
    """Open the bytes of a file, gzip-compressed or not."""
    return _select_open(path)(path, "rb")


def _select_open(path: Path):
    return gzip.open if path.suffix == ".gz" else open


def check_names(path: Path, names: Iterable[str], needed: Sequence[str], delimiter: str | None = None) -> None:
    """Check that every needed column exists exactly once.

    Args:
        path: the file, for messages.
        names: column names of the file.
        needed: columns that must exist.
        delimiter: field delimiter, for text files of fields.

    Raises:
        DataError: a needed column is missing or occurs twice.
    """
    names = list(names)
    for column in needed:
        if column not in names:
            fix = _suggest_fix(column, names, delimiter)
            raise DataError(f"{path}: no column {short_repr(column)}; it has {_join_names(names)}{fix}")
        if (count := names.count(column)) > 1:
            positions = [str(position) for position, name in enumerate(names, 1) if name == column]
            raise DataError(
                f"{path}: {count} columns are called {short_repr(column)}, number {' and '.join(positions)}; "
                "rename all but one"
            )


def short_repr(text: str) -> str:
    """Return the repr of a text for messages: shortened, with invisible characters escaped."""
    short = text if len(text) <= MAX_SHOWN_CHARACTERS else f"{text[:MAX_SHOWN_CHARACTERS]}..."
    return "".join(map(_escape_combining, repr(short)))


def parse_number(text: str) -> Decimal | None:
    """Return the number that a text spells out in decimal or scientific notation; None if it is not a number."""
    return Decimal(text) if NUMBER_PATTERN.fullmatch(text) else None


def _join_names(names: Sequence[str]) -> str:
    odd_names = {
        name for name in names if len(name) > MAX_SHOWN_CHARACTERS or name != " ".join(_remove_invisible(name).split())
    }
    listed = [short_repr(name) if name in odd_names or not name else name for name in names[:MAX_LISTED_NAMES]]
    return (
        ", ".join(listed) + (f" and {len(names) - MAX_LISTED_NAMES} more" if len(names) > MAX_LISTED_NAMES else "")
        or "none"
    )


def _suggest_fix(column: str, names: Sequence[str], delimiter: str | None) -> str:
    """Suggest a fix if a name differs in invisible characters, case or quotes only, or if fields are not split."""
    for name in names:
        if normalise_name(name) == normalise_name(column):
            return f". {short_repr(name)} is not {short_repr(column)}: rename the column, or use its name in the file"
    if delimiter and len(names) == 1 and (marks := [mark for mark in ",;\t|" if mark in names[0]]):
        required = f"{'csv' if delimiter == ',' else 'tsv'} needs {DELIMITER_NAMES[delimiter]}"
        alternative = {",": "; or set `format: csv`", "\t": "; or set `format: tsv`"}.get(marks[0], "")
        return f". Its fields seem to be separated by {marks[0]!r}; {required}{alternative}"
    return ""


def normalise_name(name: str) -> str:
    """Return a name without case, white space, quotes and zero-width characters."""
    return "".join(_remove_invisible(name).split()).strip("\"'").casefold()


def _remove_invisible(name: str) -> str:
    """Return the text in composed form (NFC), without control and zero-width characters."""
    return "".join(c for c in unicodedata.normalize("NFC", name) if unicodedata.category(c) not in ("Cf", "Cc"))


def _escape_combining(character: str) -> str:
    return ascii(character)[1:-1] if unicodedata.combining(character) else character
