"""Files of sentence pairs in the formats that people keep them in, read as columns.

| format | what it is |
|---|---|
| parquet | Parquet, with the label names of a Hugging Face ``ClassLabel`` where its metadata have them |
| csv | commas, a header, fields with commas or line breaks in double quotes; UTF-8 |
| tsv | tabs, a header, one row a line, nothing quoted: GLUE's files, HANS's .txt, PAWS's .tsv |
| jsonl | one JSON object a line, as MultiNLI and SNLI are published |
| saved | a folder of ``datasets.Dataset.save_to_disk``, or one split of a ``DatasetDict``'s |

csv, tsv and jsonl may be compressed (.gz). Why `datasets` reads only its own format: docs/decisions/own-code.md.
"""

import ast
import csv
import gzip
import json
import logging
import re
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from heuristic_core.common.errors import InputError
from heuristic_core.config.tasks import Format

LOGGER = logging.getLogger(__name__)
ENDINGS = {".parquet": "parquet", ".csv": "csv", ".tsv": "tsv", ".txt": "tsv", ".jsonl": "jsonl"}
BYTES = re.compile(r"""b'(?:[^'\\]|\\.)*'|b"(?:[^"\\]|\\.)*\"""")
HALF = re.compile(r"\\u[dD][89a-fA-F]")  # of a character beyond the first 65,536; alone it is no text
# GLUE's train.tsv of QQP holds a few questions with a line break inside, which nothing quotes: their halves have too
# few fields (as GLUE's downloads have them). So many lines may be dropped; more of them mean another format.
TORN_SHARE = 0.001


class DataError(InputError):
    """Data that do not fit their declaration. The message names file, column and value."""


class Columns(NamedTuple):
    """values: column -> one value a row. classes: column -> label names behind 0, 1, ..., where the file has them.

    torn: lines that were dropped because they have another number of fields than the header.
    """

    values: dict[str, list]
    classes: dict[str, list[str]]
    torn: int = 0


def read_columns(
    path: Path, format: Format | None, needed: Sequence[str], optional: Sequence[str] = (), most: int | None = None
) -> Columns:
    """The columns `needed` of a file, and those of `optional` that it has. format: default: what the ending says.

    most: about how many rows to read, the first; default: all.
    Raises DataError where the file cannot be read, or lacks a column.
    """
    format = format or _format(path)
    try:
        found = READERS[format](path, list(dict.fromkeys(needed)), optional, most)
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not UTF-8 text ({error.reason} at byte {error.start}); save it as UTF-8") from None
    except InputError:
        raise
    except Exception as error:  # of damaged bytes every parser says something else
        raise DataError(f"{path} cannot be read as {format}: {str(error) or type(error).__name__}") from None
    return found._replace(values={name: _unwrapped(path, name, column) for name, column in found.values.items()})


def _format(path: Path) -> str:
    if path.is_dir():
        return "saved"
    ending = Path(path.stem if path.suffix == ".gz" else path.name).suffix
    if ending not in ENDINGS:
        known = ", ".join(ENDINGS)
        raise DataError(f"{path}: its ending {ending!r} is none of {known} (nor a folder); say `format: ...`")
    return ENDINGS[ending]


def _chosen(path: Path, names: Iterable[str], needed: Sequence[str], optional: Sequence[str]) -> list[str]:
    names = list(names)
    if missing := [column for column in needed if column not in names]:
        raise DataError(f"{path}: no column {missing[0]!r}; it has {', '.join(names)}")
    return [*needed, *(column for column in optional if column in names and column not in needed)]


# ---- one reader per format: (path, needed, optional, most) -> Columns


def _parquet(path, needed, optional, most) -> Columns:
    import pyarrow.parquet as pq

    schema = pq.read_schema(path)
    chosen = _chosen(path, schema.names, needed, optional)
    table = pq.read_table(path, columns=chosen) if most is None else _head(pq.ParquetFile(path), chosen, most)
    features = json.loads((schema.metadata or {}).get(b"huggingface", b"{}")).get("info", {}).get("features", {})
    classes = {c: features[c]["names"] for c in chosen if features.get(c, {}).get("_type") == "ClassLabel"}
    return Columns({column: table[column].to_pylist() for column in chosen}, classes)


def _head(file, columns, most):
    """The first rows of a Parquet file, at most `most`."""
    import pyarrow as pa

    batches = list(islice(file.iter_batches(most, columns=columns), 1))
    return pa.Table.from_batches(batches) if batches else file.read(columns=columns)


def _saved(path, needed, optional, most) -> Columns:
    from datasets import ClassLabel, DatasetDict, load_from_disk

    data = load_from_disk(str(path))
    if isinstance(data, DatasetDict):
        raise DataError(f"{path} holds several splits; name one: {', '.join(f'{path.name}/{split}' for split in data)}")
    chosen = _chosen(path, data.column_names, needed, optional)
    classes = {c: data.features[c].names for c in chosen if isinstance(data.features[c], ClassLabel)}
    return Columns(data.select_columns(chosen)[:most], classes)


def _jsonl(path, needed, optional, most) -> Columns:
    wanted, rows, names = list(dict.fromkeys([*needed, *optional])), [], {}
    with _text(path) as file:
        for line, text in enumerate(file, 1):
            if not text.strip():
                continue
            try:
                row = json.loads(text)
            except json.JSONDecodeError as error:
                raise DataError(f"{path}: line {line} is not JSON: {error.msg}") from None
            if not isinstance(row, dict):
                raise DataError(f"{path}: line {line} is not a JSON object of columns and values")
            if HALF.search(text):
                json.dumps(row, ensure_ascii=False).encode()
            names |= dict.fromkeys(row)
            rows.append([row.get(column) for column in wanted])
            if most is not None and len(rows) >= most and names.keys() >= set(needed):
                break  # not before every column was seen: a row need not have them all
    chosen = _chosen(path, names, needed, optional)
    return Columns({column: [row[wanted.index(column)] for row in rows] for column in chosen}, {})


def _csv(path, needed, optional, most) -> Columns:
    with _text(path, newline="") as file:
        reader = csv.reader(file, strict=True)
        records = ((reader.line_num, fields) for fields in reader if fields)
        header, rows = _records(path, records, most)
    for line, fields in rows:
        if len(fields) != len(header):
            raise DataError(f"{_ragged(path, line, fields, header)}; put fields that hold commas in double quotes")
    return _fields(path, header, rows, needed, optional)


def _tsv(path, needed, optional, most) -> Columns:
    with _text(path, newline="\n") as file:
        records = ((line, text.rstrip("\r\n").split("\t")) for line, text in enumerate(file, 1) if text.strip("\r\n"))
        header, rows = _records(path, records, most)
    torn = [(line, fields) for line, fields in rows if len(fields) != len(header)]
    if len(torn) > TORN_SHARE * len(rows) and (most is None or len(rows) < most):  # of all rows
        raise DataError(f"{_ragged(path, *torn[0], header)}; {len(torn)} of {len(rows)} rows are such")
    if torn and most is None:
        LOGGER.warning("%s: dropped %d torn lines, the first is %d", path, len(torn), torn[0][0])
    whole = [row for row in rows if len(row[1]) == len(header)]
    return _fields(path, header, whole, needed, optional)._replace(torn=len(torn))


READERS = {"parquet": _parquet, "saved": _saved, "jsonl": _jsonl, "csv": _csv, "tsv": _tsv}


# ---- what the formats of text share


def _text(path: Path, newline: str | None = None):
    """A text file, or a compressed one, without the mark that Excel puts at its head."""
    opened = gzip.open if path.suffix == ".gz" else open
    return opened(path, "rt", encoding="utf-8-sig", newline=newline)


def _records(
    path: Path, records: Iterable[tuple[int, list[str]]], most: int | None
) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """The header, and (line, fields) of the rows below it, of `most` of them."""
    rows = list(islice(records, None if most is None else most + 1))
    if not rows:
        raise DataError(f"{path}: empty; its first line must name the columns")
    return rows[0][1], rows[1:]


def _ragged(path: Path, line: int, fields: Sequence[str], header: Sequence[str]) -> str:
    return f"{path}: line {line} has {len(fields)} fields, but the header has {len(header)}"


def _fields(path, header, rows, needed, optional) -> Columns:
    places = {column: header.index(column) for column in _chosen(path, header, needed, optional)}
    return Columns({column: [fields[place] for _, fields in rows] for column, place in places.items()}, {})


def _unwrapped(path: Path, column: str, values: list) -> list:
    """The text inside Python's bytes literals, as PAWS's script writes its QQP part, if every value is one."""
    if not values or not all(isinstance(value, str) and BYTES.fullmatch(value) for value in values):
        return values
    try:
        text = [ast.literal_eval(value).decode() for value in values]
    except (SyntaxError, ValueError):  # bytes that are no UTF-8, or a literal with other characters than ASCII
        return values
    LOGGER.info("%s: the values of %s are bytes literals, b'...'; read the text inside", path, column)
    return text
