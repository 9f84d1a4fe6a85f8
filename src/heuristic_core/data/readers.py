"""Read files of sentence pairs as columns.

| format | content |
|---|---|
| parquet | Parquet, with the label names of a Hugging Face ``ClassLabel`` if its metadata have them |
| csv | comma-separated with a header, by default with double quotes around fields; UTF-8 |
| tsv | tab-separated with a header, by default unquoted, as GLUE's files, HANS's .txt and PAWS's .tsv; UTF-8 |
| jsonl | one JSON object per line, as MultiNLI and SNLI are published |
| saved | a folder written by ``datasets.Dataset.save_to_disk``, or one split of a saved ``DatasetDict`` |

csv, tsv and jsonl may be compressed (.gz). `docs/decisions/own-code.md` says why `datasets` reads only its own format.
"""

import ast
import contextlib
import json
import logging
import re
import zlib
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from heuristic_core.config.splits import Format, Quoting
from heuristic_core.data.columns import (
    MAX_SHOWN_CHARACTERS,
    Columns,
    DataError,
    check_names,
    open_bytes,
    open_text,
    short_repr,
)
from heuristic_core.data.delimited import read_delimited

LOGGER = logging.getLogger(__name__)
SUFFIX_FORMATS = {".parquet": "parquet", ".csv": "csv", ".tsv": "tsv", ".txt": "tsv", ".jsonl": "jsonl"}
DELIMITERS = {"csv": ",", "tsv": "\t"}
TEXT_FORMATS = (*DELIMITERS, "jsonl")
BYTES_LITERAL = re.compile(r"""b'(?:[^'\\]|\\.)*'|b"(?:[^"\\]|\\.)*\"""")
SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")  # half of a surrogate pair


def read_columns(
    path: Path,
    format: Format | None,
    needed: Sequence[str],
    max_rows: int | None = None,
    quoting: Quoting | None = None,
) -> Columns:
    """Read the columns `needed` of a file.

    Args:
        path: the file, or the folder of a saved dataset.
        format: default: by the file's suffix.
        needed: names of the columns; duplicates are read once.
        max_rows: about how many of the first rows to read; default: all.
        quoting: for csv and tsv, see :mod:`.delimited`.

    Raises:
        DataError: the file cannot be read, or lacks a column.
    """
    format, needed = format or _detect_format(path), list(dict.fromkeys(needed))
    if quoting and format not in DELIMITERS:
        raise DataError(f"{path}: quoting = {quoting!r} applies to csv and tsv, but the file is read as {format}")
    try:
        if format in DELIMITERS:
            columns = read_delimited(path, DELIMITERS[format], quoting, needed, max_rows)
        else:
            columns = READERS[format](path, needed, max_rows)
    except UnicodeDecodeError as error:
        description = _describe_encoding_error(path) if format in TEXT_FORMATS else None
        raise DataError(f"{path}: {description or f'not UTF-8 text ({error.reason})'}; save it as UTF-8") from None
    except DataError:
        raise
    except Exception as error:  # parsers raise various exceptions on damaged files
        raise DataError(f"{path} cannot be read as {format}: {str(error) or type(error).__name__}") from None
    return columns._replace(
        values={name: _decode_bytes_literals(path, name, column) for name, column in columns.values.items()}
    )


def _detect_format(path: Path) -> str:
    if path.is_dir():
        return "saved"
    suffix = Path(path.stem if path.suffix == ".gz" else path.name).suffix
    if suffix not in SUFFIX_FORMATS:
        suffixes = ", ".join(SUFFIX_FORMATS)
        raise DataError(f"{path}: its ending {suffix!r} is not one of {suffixes}; set `format: ...`")
    return SUFFIX_FORMATS[suffix]


def _describe_encoding_error(path: Path) -> str | None:
    """Describe the first line that is not UTF-8; None if the file cannot be read again."""
    with contextlib.suppress(OSError, EOFError, zlib.error), open_bytes(path) as file:
        for line, content in enumerate(file, 1):
            try:
                content.decode()
            except UnicodeDecodeError as error:
                if content.startswith((b"\xff\xfe", b"\xfe\xff")):
                    return "not UTF-8 text but UTF-16"
                context = content[max(error.start - 20, 0) : error.end + 10]
                return f"line {line} is not UTF-8 text ({error.reason} in {context!r})"
    return None


# ---- one reader per format: (path, needed, max_rows) -> Columns


def _read_parquet(path, needed, max_rows) -> Columns:
    import pyarrow.parquet as pq

    schema = pq.read_schema(path)
    check_names(path, schema.names, needed)
    if max_rows is None:
        table = pq.read_table(path, columns=needed)
    else:
        table = _read_head(pq.ParquetFile(path), needed, max_rows)
    features = json.loads((schema.metadata or {}).get(b"huggingface", b"{}")).get("info", {}).get("features", {})
    classes = {
        column: features[column]["names"] for column in needed if features.get(column, {}).get("_type") == "ClassLabel"
    }
    return Columns({column: table[column].to_pylist() for column in needed}, classes)


def _read_head(file, columns, max_rows):
    """Read at most `max_rows` first rows of a Parquet file."""
    import pyarrow as pa

    batches = list(islice(file.iter_batches(max_rows, columns=columns), 1))
    return pa.Table.from_batches(batches) if batches else file.read(columns=columns)


def _read_saved(path, needed, max_rows) -> Columns:
    from datasets import ClassLabel, DatasetDict, load_from_disk

    data = load_from_disk(str(path))
    if isinstance(data, DatasetDict):
        raise DataError(f"{path} holds several splits; name one: {', '.join(f'{path.name}/{split}' for split in data)}")
    check_names(path, data.column_names, needed)
    classes = {
        column: data.features[column].names for column in needed if isinstance(data.features[column], ClassLabel)
    }
    return Columns(data.select_columns(needed)[:max_rows], classes)


def _read_jsonl(path, needed, max_rows) -> Columns:
    rows, lines, keys, incomplete_rows = [], [], [], {}
    shared_keys: dict[tuple[str, ...], tuple[str, ...]] = {}  # keys of rows, stored once: most rows share them
    names: dict[str, None] = {}
    with open_text(path) as file:
        for line, text in enumerate(file, 1):
            if not text.strip():
                continue
            row = _parse_object(path, line, text, needed)
            row_keys = tuple(row)
            if row_keys not in shared_keys:
                shared_keys[row_keys] = row_keys
                names |= dict.fromkeys(row_keys)
            if any(column not in row for column in needed):
                incomplete_rows[len(rows)] = {key: _truncate(value) for key, value in row.items()}
            rows.append([row.get(column) for column in needed])
            lines.append(line)
            keys.append(shared_keys[row_keys])
            if max_rows is not None and len(rows) >= max_rows and names.keys() >= set(needed):
                break  # rows without a label may lack its column, so read on until every column was seen
    check_names(path, names, needed)
    return Columns(
        {column: [row[k] for row in rows] for k, column in enumerate(needed)}, {}, 0, lines, keys, incomplete_rows
    )


def _truncate(value) -> str:
    """Return the beginning of a value's text."""
    return "" if value is None else str(value)[:MAX_SHOWN_CHARACTERS]


def _parse_object(path: Path, line: int, text: str, needed: Sequence[str]) -> dict:
    try:
        row = json.loads(text)
    except json.JSONDecodeError as error:
        raise DataError(f"{path}: line {line} is not JSON: {error.msg} at character {error.pos + 1}") from None
    if not isinstance(row, dict):
        raise DataError(f"{path}: line {line} is not a JSON object of columns and values")
    for column in needed:
        if text.count(json.dumps(column, ensure_ascii=False)) > 1:
            # The hook is called last for the outermost object.
            names = json.loads(text, object_pairs_hook=lambda pairs: [name for name, _ in pairs])
            if names.count(column) > 1:
                raise DataError(
                    f"{path}: line {line} has {short_repr(column)} {names.count(column)} times; keep one of them"
                )
    if SURROGATE_ESCAPE.search(text):
        try:
            json.dumps(row, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            surrogate = ascii(error.object[error.start])
            raise DataError(f"{path}: line {line} is not text: {surrogate} is half of a character") from None
    return row


READERS = {"parquet": _read_parquet, "saved": _read_saved, "jsonl": _read_jsonl}


def _decode_bytes_literals(path: Path, column: str, values: list) -> list:
    """Decode a column of Python bytes literals, which PAWS's script writes; return other columns unchanged."""
    if not values or not all(isinstance(value, str) and BYTES_LITERAL.fullmatch(value) for value in values):
        return values
    try:
        text = [ast.literal_eval(value).decode() for value in values]
    except (SyntaxError, ValueError):  # not UTF-8, or not an ASCII literal
        return values
    LOGGER.info("%s: the values of %s are bytes literals, b'...'; read the text inside", path, column)
    return text
