"""Read CSV and TSV files with a header.

With the quoting ``double``, a field that begins with a double quote ends with the next single one; between them it may
hold commas, tabs, line breaks, and double quotes written twice. With ``none``, each line is a row, and a double quote
is an ordinary character.
"""

import csv
import logging
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from heuristic_core.common.errors import format_count
from heuristic_core.config.splits import Quoting
from heuristic_core.data.columns import DELIMITER_NAMES, Columns, DataError, check_names, open_text, short_repr
from heuristic_core.data.quotes import find_misplaced_quote, find_quoted_field

LOGGER = logging.getLogger(__name__)
MAX_FIELD_CHARACTERS = 2**31 - 1  # Python's own limit is 131,072
# A few questions in GLUE's train.tsv of QQP contain unquoted line breaks, so that both halves have too few fields.
# Up to this share of the lines is dropped; a higher share suggests another format.
TORN_SHARE = 0.001


def read_delimited(
    path: Path, delimiter: str, quoting: Quoting | None, needed: Sequence[str], max_rows: int | None
) -> Columns:
    """Read the columns `needed` of a CSV or TSV file.

    Args:
        path: the file.
        delimiter: "," or a tab.
        quoting: ``double`` or ``none``; default: ``double`` for commas, ``none`` for tabs.
        needed: names of the columns.
        max_rows: number of rows to read; None reads all.

    Raises:
        DataError: the file is empty, lacks a column, or its rows do not fit the header.
    """
    is_quoted = quoting == "double" or (quoting is None and delimiter == ",")
    with open_text(path, newline="" if is_quoted else "\n") as file:
        records = _read_quoted_records(path, file, delimiter) if is_quoted else _read_lines(file)
        records = list(islice(records, None if max_rows is None else max_rows + 1))
    if not records:
        raise DataError(f"{path}: empty; its first line must name the columns")
    is_complete = max_rows is None or len(records) <= max_rows
    if not is_quoted:
        _check_lines(path, records, delimiter, is_complete, quoting)
        records = [(line, text.split(delimiter)) for line, text in records]
    (_, header), *rows = records
    check_names(path, header, needed, delimiter)
    torn = [row for row in rows if len(row[1]) != len(header)]
    if torn and (is_quoted or delimiter == "," or (is_complete and len(torn) > TORN_SHARE * len(rows))):
        torn_text = (
            ""
            if is_quoted
            else f"; {len(torn)} of {format_count(len(rows), 'row')} {'is' if len(torn) == 1 else 'are'} such"
        )
        raise DataError(f"{path}: {_describe_field_count(torn[0], header, delimiter, is_quoted)}{torn_text}")
    if torn and max_rows is None:
        LOGGER.warning("%s: dropped %s, the first is %d", path, format_count(len(torn), "torn line"), torn[0][0])
    rows = [row for row in rows if len(row[1]) == len(header)]
    indices = {column: header.index(column) for column in needed}
    values = {column: [fields[index] for _, fields in rows] for column, index in indices.items()}
    return Columns(values, {}, len(torn), [line for line, _ in rows])


def _read_lines(file) -> Iterator[tuple[int, str]]:
    """Yield (line number, text) of all non-empty lines."""
    return ((line, text.rstrip("\r\n")) for line, text in enumerate(file, 1) if text.strip("\r\n"))


def _read_quoted_records(path: Path, file, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield (number of the first line, fields) of each record; raise DataError on a misplaced quote."""
    record_lines: list[str] = []  # of the current record

    def lines():
        for text in file:
            record_lines.append(text)
            yield text

    space_before_quote = re.compile(rf'(?:^|{delimiter})[ \u00a0]+"')
    reader = csv.reader(lines(), delimiter=delimiter, strict=True)
    limit = csv.field_size_limit(MAX_FIELD_CHARACTERS)  # global in csv: restored below
    try:
        for fields in reader:
            line = reader.line_num - len(record_lines) + 1
            if any(map(space_before_quote.search, record_lines)):
                _check_record(path, line, record_lines, delimiter)
            record_lines.clear()
            if fields:
                yield line, fields
    except csv.Error:
        _check_record(path, reader.line_num - len(record_lines) + 1, record_lines, delimiter)
        raise
    finally:
        csv.field_size_limit(limit)


def _check_record(path: Path, line: int, record_lines: Sequence[str], delimiter: str) -> None:
    if fault := find_misplaced_quote("".join(record_lines), delimiter):
        raise DataError(f"{path}: line {line + fault[0]}: {fault[1]}")


def _check_lines(path: Path, lines: Sequence[tuple[int, str]], delimiter: str, is_complete: bool, quoting) -> None:
    """Raise DataError if lines end with a carriage return alone, or fields are quoted but `quoting` is not set."""
    line, header = lines[0]
    if "\r" in header:
        raise DataError(
            f"{path}: line {line}: {short_repr(header)}: lines end in '\\r' alone, as in files of the classic Mac OS; "
            "save the file with '\\n' at the ends of its lines"
        )
    if quoting is None and (quoted_field := find_quoted_field(lines, delimiter, is_complete)):
        raise DataError(
            f"{path}: line {quoted_field[0]}: {short_repr(quoted_field[1])} is quoted, as pandas and spreadsheets do "
            "it; set `quoting: double` in the file's entry, or `quoting: none` if its double quotes belong to the text"
        )


def _describe_field_count(record: tuple[int, list[str]], header: Sequence[str], delimiter: str, is_quoted: bool) -> str:
    line, fields = record
    delimiter_name = DELIMITER_NAMES[delimiter]
    cause = f"; put fields that hold {delimiter_name} in double quotes" if is_quoted else ""
    if not is_quoted and any(field.startswith('"') for field in fields):
        cause = "; set `quoting: double` if its fields are enclosed in double quotes"
    if with_return := [field for field in fields if "\r" in field]:
        cause = f"; {short_repr(with_return[0])} holds '\\r', the line ending of the classic Mac OS"
    return f"line {line} has {format_count(len(fields), 'field')}, but the header has {len(header)}{cause}"
