"""Double quotes in text files of fields: whether they quote fields, and which of them keeps a file from being read."""

import re
from collections.abc import Iterable, Iterator, Sequence

from heuristic_core.tasks.columns import LONGEST, shown

QUOTED = r'"[^"]*+(?:""[^"]*+)*+"'  # a field that is quoted as a whole, with the quotes in it doubled
TWICE = "a double quote inside a text is written twice; say `quoting: none` if no field of the file is quoted"
MANY = 10  # fields; fewer may each be a quotation as a whole


def quoted_field(lines: Sequence[tuple[int, str]], delimiter: str, whole: bool) -> tuple[int, str] | None:
    """The line and the text of a field that was quoted when the file was written; None where quotes are of the text.

    They quote if most fields with a double quote have quotes around them and doubled ones inside. Otherwise they are of
    the text if one of them is anywhere but around a field or doubled inside one. If none is, they quote if they are
    around a double quote, or around a delimiter or line break that parts a row, or around a column's name and all of
    its fields, or, where there are many, around all of its fields, or, as Excel writes them, around all fields with a
    comma and no others.

    lines: their numbers and texts, the header first. whole: they are all lines of the file.
    """
    holding = [(line, field) for line, text in lines if '"' in text for field in text.split(delimiter) if '"' in field]
    doubled = [(line, field) for line, field in holding if '""' in field[1:-1] and re.fullmatch(QUOTED, field)]
    if not holding or 2 * len(doubled) > len(holding):
        return doubled[0] if holding else None
    torn = len({text.count(delimiter) for _, text in lines}) > 1
    records = list(_records(lines, delimiter, whole, torn))
    if len({len(fields) for _, fields in records}) != 1:
        return None
    rows = records[1:]
    around = [(line, field) for line, fields in rows for field in fields if field.startswith('"')]
    for line, field in around:
        if '""' in field[1:-1] or delimiter in field or "\n" in field:
            return line, field
    columns = [column for column in zip(*(fields for _, fields in records), strict=True) if _all_quoted(column[1:])]
    with_comma = [field for _, fields in rows for field in fields if "," in field]
    by_column = any(name.startswith('"') for name, *_ in columns) or (columns and len(rows) >= MANY)
    by_comma = len(with_comma) == len(around) >= MANY and _all_quoted(with_comma)
    return around[0] if around and (by_column or by_comma) else None


def _all_quoted(fields: Iterable[str]) -> bool:
    return all(field.startswith('"') for field in fields)


def _records(
    lines: Iterable[tuple[int, str]], delimiter: str, whole: bool, torn: bool
) -> Iterator[tuple[int, list[str]]]:
    """(line, fields with their quotes) of each record. If quotes do not quote, the last has no fields.

    torn: a record may have several lines.
    """
    field = rf"(?:{QUOTED}|[^\"{delimiter}\n]*+)"
    row, next_field = re.compile(rf"{field}(?:{delimiter}{field})*+"), re.compile(rf"(?:\A|{delimiter})({field})")
    start, parts, is_open = 0, [], False
    for line, text in lines:
        start = start if parts else line
        parts.append(text)
        is_open ^= text.count('"') % 2 == 1
        if is_open and torn:
            continue
        record, parts = "\n".join(parts), []
        if not row.fullmatch(record):
            yield start, []
            return
        yield start, next_field.findall(record)
    if parts and whole:
        yield start, []


def misplaced(text: str, delimiter: str) -> tuple[int, str] | None:
    """The first fault of a record whose fields may be quoted: how many lines below its first it is, and what it is.

    None where every quote is in its place.
    """
    whole, plain = re.compile(QUOTED), re.compile(rf"[^{delimiter}\r\n]*+")
    spaced = re.compile(rf"[ \u00a0]+{QUOTED} *(?=[{delimiter}\r\n]|\Z)")
    place = 0
    while True:
        rest = text[place : place + LONGEST + 1].split("\n")[0].rstrip("\r")
        lines_above = text.count("\n", 0, place) or text.count("\r", 0, place)
        field = whole.match(text, place)
        if field and text[field.end() : field.end() + 1] not in ("", delimiter, "\r", "\n"):
            if "\n" not in field[0]:
                return lines_above, f"text follows the double quote that closes {shown(field[0])}; {TWICE}"
            field = None
        if field is None and text.startswith('"', place):
            return lines_above, f"{shown(rest)} opens a double quote that nothing closes; {TWICE}"
        if spaced.match(text, place):
            return (
                lines_above,
                f"{shown(rest)} has a space before its double quote, which then opens no field; remove it",
            )
        place = (field or plain.match(text, place)).end() + 1
        if text[place - 1 : place] != delimiter:
            return None
