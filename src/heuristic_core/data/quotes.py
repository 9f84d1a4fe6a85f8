"""Detect quoted fields in CSV and TSV files, and double quotes that make a file unreadable."""

import re
from collections.abc import Iterable, Iterator, Sequence

from heuristic_core.data.columns import MAX_SHOWN_CHARACTERS, short_repr

QUOTED_FIELD = r'"[^"]*+(?:""[^"]*+)*+"'  # a wholly quoted field, double quotes in it doubled
DOUBLING_HINT = "a double quote inside a text is written twice; set `quoting: none` if no field of the file is quoted"
MIN_FIELDS = 10  # quoted fields; fewer may be texts that are quotations


def find_quoted_field(lines: Sequence[tuple[int, str]], delimiter: str, is_complete: bool) -> tuple[int, str] | None:
    """Find a field that the writer of the file quoted; None if its double quotes belong to the text.

    Double quotes quote fields if most fields with a double quote are quoted and hold doubled ones. Otherwise they
    belong to the text if any stands elsewhere than around a field or doubled inside a quoted field. If none does, they
    quote fields if one of these holds:

    - a quoted field holds a double quote, a delimiter or a line break;
    - a column's name and all its fields are quoted, or, in a file of many rows, all its fields;
    - exactly the fields with a comma are quoted, as Excel writes them, and there are many.

    Args:
        lines: (line number, text) of each line, the header first.
        delimiter: field delimiter.
        is_complete: whether `lines` are all lines of the file.

    Returns:
        Line number and text of the field, or None.
    """
    with_quote = [
        (line, field) for line, text in lines if '"' in text for field in text.split(delimiter) if '"' in field
    ]
    doubled = [(line, field) for line, field in with_quote if '""' in field[1:-1] and re.fullmatch(QUOTED_FIELD, field)]
    if not with_quote or 2 * len(doubled) > len(with_quote):
        return doubled[0] if with_quote else None
    is_multiline = len({text.count(delimiter) for _, text in lines}) > 1
    records = list(_split_records(lines, delimiter, is_complete, is_multiline))
    if len({len(fields) for _, fields in records}) != 1:
        return None
    rows = records[1:]
    quoted = [(line, field) for line, fields in rows for field in fields if field.startswith('"')]
    for line, field in quoted:
        if '""' in field[1:-1] or delimiter in field or "\n" in field:
            return line, field
    columns = [column for column in zip(*(fields for _, fields in records), strict=True) if _are_all_quoted(column[1:])]
    with_comma = [field for _, fields in rows for field in fields if "," in field]
    by_column = any(name.startswith('"') for name, *_ in columns) or (columns and len(rows) >= MIN_FIELDS)
    by_comma = len(with_comma) == len(quoted) >= MIN_FIELDS and _are_all_quoted(with_comma)
    return quoted[0] if quoted and (by_column or by_comma) else None


def _are_all_quoted(fields: Iterable[str]) -> bool:
    return all(field.startswith('"') for field in fields)


def _split_records(
    lines: Iterable[tuple[int, str]], delimiter: str, is_complete: bool, is_multiline: bool
) -> Iterator[tuple[int, list[str]]]:
    """Yield (line number, fields with their quotes) of each record; stop with no fields where quotes do not match.

    Args:
        lines: (line number, text) of each line.
        delimiter: field delimiter.
        is_complete: whether `lines` are all lines of the file.
        is_multiline: whether a record may span several lines.
    """
    field = rf"(?:{QUOTED_FIELD}|[^\"{delimiter}\n]*+)"
    row, next_field = re.compile(rf"{field}(?:{delimiter}{field})*+"), re.compile(rf"(?:\A|{delimiter})({field})")
    start, parts, is_open = 0, [], False
    for line, text in lines:
        start = start if parts else line
        parts.append(text)
        is_open ^= text.count('"') % 2 == 1
        if is_open and is_multiline:
            continue
        record, parts = "\n".join(parts), []
        if not row.fullmatch(record):
            yield start, []
            return
        yield start, next_field.findall(record)
    if parts and is_complete:
        yield start, []


def find_misplaced_quote(text: str, delimiter: str) -> tuple[int, str] | None:
    """Find the first misplaced double quote of a record whose fields may be quoted.

    Args:
        text: Text of the record.
        delimiter: Character between fields.

    Returns:
        Its line, counted from 0 at the start of the record, and an error text; None if there is none.
    """
    quoted_field, plain_field = re.compile(QUOTED_FIELD), re.compile(rf"[^{delimiter}\r\n]*+")
    space_before_quote = re.compile(rf"[ \u00a0]+{QUOTED_FIELD} *(?=[{delimiter}\r\n]|\Z)")
    position = 0
    while True:
        rest = text[position : position + MAX_SHOWN_CHARACTERS + 1].split("\n")[0].rstrip("\r")
        lines_above = text.count("\n", 0, position) or text.count("\r", 0, position)
        match = quoted_field.match(text, position)
        if match and text[match.end() : match.end() + 1] not in ("", delimiter, "\r", "\n"):
            if "\n" not in match[0]:
                return lines_above, f"text follows the double quote that closes {short_repr(match[0])}; {DOUBLING_HINT}"
            match = None
        if match is None and text.startswith('"', position):
            return lines_above, f"{short_repr(rest)} opens a double quote that is never closed; {DOUBLING_HINT}"
        if space_before_quote.match(text, position):
            return (
                lines_above,
                f"{short_repr(rest)} has a space before its double quote, which thus opens no field; remove the space",
            )
        position = (match or plain_field.match(text, position)).end() + 1
        if text[position - 1 : position] != delimiter:
            return None
