"""Text files of fields that commas or tabs part, with a header.

Where quoting is ``double``, a double quote at the beginning of a field opens it; the field ends with another one, and
holds commas, tabs and line breaks, and double quotes, written twice. Where it is ``none``, a line is a row and a double
quote a character like any other.
"""

import csv
import logging
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from heuristic_core.common.errors import counted
from heuristic_core.config.tasks import Quoting
from heuristic_core.tasks.columns import DELIMITERS, Columns, DataError, check_names, open_text, shown
from heuristic_core.tasks.quotes import misplaced, quoted_field

LOGGER = logging.getLogger(__name__)
LONGEST_FIELD = 2**31 - 1  # characters; Python's own limit is 131,072
# GLUE's train.tsv of QQP holds a few questions with a line break inside, which nothing quotes: their halves have too
# few fields (as GLUE's downloads have them). So many lines may be dropped; more of them mean another format.
TORN_SHARE = 0.001


def read_delimited(
    path: Path, delimiter: str, quoting: Quoting | None, needed: Sequence[str], most: int | None
) -> Columns:
    """The columns `needed`. quoting: default: ``double`` of commas, ``none`` of tabs. most: see `read_columns`."""
    double = quoting == "double" or (quoting is None and delimiter == ",")
    with open_text(path, newline="" if double else "\n") as file:
        records = _quoted(path, file, delimiter) if double else _plain(file)
        records = list(islice(records, None if most is None else most + 1))
    if not records:
        raise DataError(f"{path}: empty; its first line must name the columns")
    whole = most is None or len(records) <= most
    if not double:
        _check_lines(path, records, delimiter, whole, quoting)
        records = [(line, text.split(delimiter)) for line, text in records]
    (_, header), *rows = records
    check_names(path, header, needed, delimiter)
    torn = [row for row in rows if len(row[1]) != len(header)]
    if torn and (double or delimiter == "," or (whole and len(torn) > TORN_SHARE * len(rows))):
        such = (
            "" if double else f"; {len(torn)} of {counted(len(rows), 'row')} {'is' if len(torn) == 1 else 'are'} such"
        )
        raise DataError(f"{path}: {_ragged(torn[0], header, delimiter, double)}{such}")
    if torn and most is None:
        LOGGER.warning("%s: dropped %s, the first is %d", path, counted(len(torn), "torn line"), torn[0][0])
    rows = [row for row in rows if len(row[1]) == len(header)]
    places = {column: header.index(column) for column in needed}
    values = {column: [fields[place] for _, fields in rows] for column, place in places.items()}
    return Columns(values, {}, len(torn), [line for line, _ in rows])


def _plain(file) -> Iterator[tuple[int, str]]:
    """(line, text) of all lines but empty ones."""
    return ((line, text.rstrip("\r\n")) for line, text in enumerate(file, 1) if text.strip("\r\n"))


def _quoted(path: Path, file, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """(line on which it begins, fields) of each record. Raises DataError where a quote is not in its place."""
    read: list[str] = []  # the lines of a record

    def lines():
        for text in file:
            read.append(text)
            yield text

    spaced = re.compile(rf'(?:^|{delimiter})[ \u00a0]+"')
    reader = csv.reader(lines(), delimiter=delimiter, strict=True)
    limit = csv.field_size_limit(LONGEST_FIELD)  # of all readers there are, so not for longer than this file
    try:
        for fields in reader:
            line = reader.line_num - len(read) + 1
            if any(map(spaced.search, read)):
                _check_record(path, line, read, delimiter)
            read.clear()
            if fields:
                yield line, fields
    except csv.Error:
        _check_record(path, reader.line_num - len(read) + 1, read, delimiter)
        raise
    finally:
        csv.field_size_limit(limit)


def _check_record(path: Path, line: int, read: Sequence[str], delimiter: str) -> None:
    if fault := misplaced("".join(read), delimiter):
        raise DataError(f"{path}: line {line + fault[0]}: {fault[1]}")


def _check_lines(path: Path, lines: Sequence[tuple[int, str]], delimiter: str, whole: bool, quoting) -> None:
    """Raise DataError where lines end otherwise than they seem to, or fields are quoted and nothing says so."""
    line, header = lines[0]
    if "\r" in header:
        raise DataError(
            f"{path}: line {line}: {shown(header)}: lines end in '\\r' alone, as old programs for the Mac write them; "
            "save the file with '\\n' at the ends of its lines"
        )
    if quoting is None and (found := quoted_field(lines, delimiter, whole)):
        raise DataError(
            f"{path}: line {found[0]}: {shown(found[1])} is quoted, as pandas and spreadsheets do it; say "
            "`quoting: double` in the file's entry, or `quoting: none` if its double quotes are part of the text"
        )


def _ragged(record: tuple[int, list[str]], header: Sequence[str], delimiter: str, double: bool) -> str:
    line, fields = record
    what = DELIMITERS[delimiter]
    cause = f"; put fields that hold {what} in double quotes" if double else ""
    if not double and any(field.startswith('"') for field in fields):
        cause = "; say `quoting: double` if double quotes are around its fields"
    if odd := [field for field in fields if "\r" in field]:
        cause = f"; {shown(odd[0])} holds '\\r', with which old programs for the Mac end lines"
    return f"line {line} has {counted(len(fields), 'field')}, but the header has {len(header)}{cause}"
