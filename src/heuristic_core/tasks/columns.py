"""Columns of a file of sentence pairs, and the words that readers of all formats share."""

import gzip
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

from heuristic_core.common.errors import InputError

SHOWN = 20  # names of columns that a message lists
NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d{1,3})?", re.ASCII | re.IGNORECASE)
DELIMITERS = {",": "commas", "\t": "tabs"}
LONGEST = 60  # characters of a text that a message quotes


class DataError(InputError):
    """Data that do not fit their declaration. The message names file, column and value."""


class Columns(NamedTuple):
    """values: column -> one value a row. classes: column -> label names behind 0, 1, ..., where the file has them.

    torn: lines that were dropped because they have another number of fields than the header. lines: the line on which
    each row begins, of a file of lines. keys: of each row, where rows have keys of their own; beside: of each row that
    lacks one of the columns, the beginnings of its values.
    """

    values: dict[str, list]
    classes: dict[str, list[str]]
    torn: int = 0
    lines: Sequence[int] | None = None
    keys: Sequence[tuple[str, ...]] | None = None
    beside: Mapping[int, Mapping[str, str]] = {}

    def place(self, row: int) -> str:
        """How messages name a row: by its line, or counted from 1."""
        return f"line {self.lines[row]}" if self.lines else f"row {row + 1}"


def open_text(path: Path, newline: str | None = None):
    """A text file, or a compressed one, without the mark that Excel puts at its head."""
    return _opened(path)(path, "rt", encoding="utf-8-sig", newline=newline)


def open_bytes(path: Path):
    """The bytes of the same."""
    return _opened(path)(path, "rb")


def _opened(path: Path):
    return gzip.open if path.suffix == ".gz" else open


def check_names(path: Path, names: Iterable[str], needed: Sequence[str], delimiter: str | None = None) -> None:
    """Raise DataError where a column that is needed is not there, or there twice. delimiter: of a file that has one."""
    names = list(names)
    for column in needed:
        if column not in names:
            raise DataError(
                f"{path}: no column {shown(column)}; it has {_listed(names)}{_near(column, names, delimiter)}"
            )
        if (count := names.count(column)) > 1:
            places = [str(place) for place, name in enumerate(names, 1) if name == column]
            raise DataError(
                f"{path}: {count} columns are called {shown(column)}, number {' and '.join(places)}; rename all but one"
            )


def shown(text: str) -> str:
    """A text as messages show it: what is odd or invisible by its code, and not all of a long one."""
    short = text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
    return "".join(map(_visible, repr(short)))


def number_of(text: str) -> Decimal | None:
    """The number that a text spells out, as a field of a text file or as Python writes a value; None for others."""
    return Decimal(text) if NUMBER.fullmatch(text) else None


def _listed(names: Sequence[str]) -> str:
    odd = {name for name in names if len(name) > LONGEST or name != " ".join(_plain_characters(name).split())}
    listed = [shown(name) if name in odd or not name else name for name in names[:SHOWN]]
    return ", ".join(listed) + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "") or "none"


def _near(column: str, names: Sequence[str], delimiter: str | None) -> str:
    """What to do where the column is there but for invisible characters, case or quotes, or fields are not split."""
    for name in names:
        if bare(name) == bare(column):
            return f". {shown(name)} is not {shown(column)}: rename the column, or give its name as it is in the file"
    if delimiter and len(names) == 1 and (marks := [mark for mark in ",;\t|" if mark in names[0]]):
        needs = f"{'csv' if delimiter == ',' else 'tsv'} needs {DELIMITERS[delimiter]}"
        other = {",": "; or say `format: csv`", "\t": "; or say `format: tsv`"}.get(marks[0], "")
        return f". Its fields seem to be separated by {marks[0]!r}; {needs}{other}"
    return ""


def bare(name: str) -> str:
    """A name without case, space, quotes and characters that have no width."""
    return "".join(_plain_characters(name).split()).strip("\"'").casefold()


def _plain_characters(name: str) -> str:
    """The text as it looks: composed, without characters that have no width."""
    return "".join(c for c in unicodedata.normalize("NFC", name) if unicodedata.category(c) not in ("Cf", "Cc"))


def _visible(character: str) -> str:
    return ascii(character)[1:-1] if unicodedata.combining(character) else character
