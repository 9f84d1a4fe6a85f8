"""Files of sentence pairs in the formats that people keep them in, read as columns.

| format | what it is |
|---|---|
| parquet | Parquet, with the label names of a Hugging Face ``ClassLabel`` where its metadata have them |
| csv | commas, a header, by default fields with commas or line breaks in double quotes; UTF-8 |
| tsv | tabs, a header, by default one row a line, nothing quoted: GLUE's files, HANS's .txt, PAWS's .tsv |
| jsonl | one JSON object a line, as MultiNLI and SNLI are published |
| saved | a folder of ``datasets.Dataset.save_to_disk``, or one split of a ``DatasetDict``'s |

csv, tsv and jsonl may be compressed (.gz). Why `datasets` reads only its own format: docs/decisions/own-code.md.
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

from heuristic_core.common.errors import InputError
from heuristic_core.config.tasks import Format, Quoting
from heuristic_core.tasks.columns import LONGEST, Columns, DataError, check_names, open_bytes, open_text, shown
from heuristic_core.tasks.delimited import read_delimited

LOGGER = logging.getLogger(__name__)
ENDINGS = {".parquet": "parquet", ".csv": "csv", ".tsv": "tsv", ".txt": "tsv", ".jsonl": "jsonl"}
DELIMITERS = {"csv": ",", "tsv": "\t"}
TEXT = (*DELIMITERS, "jsonl")
BYTES = re.compile(r"""b'(?:[^'\\]|\\.)*'|b"(?:[^"\\]|\\.)*\"""")
HALF = re.compile(r"\\u[dD][89a-fA-F]")  # of a character beyond the first 65,536; alone it is no text


def read_columns(
    path: Path, format: Format | None, needed: Sequence[str], most: int | None = None, quoting: Quoting | None = None
) -> Columns:
    """The columns `needed` of a file. format: default: what the ending says.

    most: about how many rows to read, the first; default: all. quoting: of csv and tsv, see :mod:`.delimited`.
    Raises DataError where the file cannot be read, or lacks a column.
    """
    format, needed = format or _format(path), list(dict.fromkeys(needed))
    if quoting and format not in DELIMITERS:
        raise DataError(f"{path}: quoting = {quoting!r} is of csv and tsv, and the file is read as {format}")
    try:
        if format in DELIMITERS:
            found = read_delimited(path, DELIMITERS[format], quoting, needed, most)
        else:
            found = READERS[format](path, needed, most)
    except UnicodeDecodeError as error:
        where = _not_utf8(path) if format in TEXT else None
        raise DataError(f"{path}: {where or f'not UTF-8 text ({error.reason})'}; save it as UTF-8") from None
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


def _not_utf8(path: Path) -> str | None:
    """What the first line that is no UTF-8 holds; None where the bytes cannot be read again."""
    with contextlib.suppress(OSError, EOFError, zlib.error), open_bytes(path) as file:
        for line, content in enumerate(file, 1):
            try:
                content.decode()
            except UnicodeDecodeError as error:
                if content.startswith((b"\xff\xfe", b"\xfe\xff")):
                    return "not UTF-8 text but UTF-16"
                near = content[max(error.start - 20, 0) : error.end + 10]
                return f"line {line} is not UTF-8 text ({error.reason} in {near!r})"
    return None


# ---- one reader per format: (path, needed, most) -> Columns


def _parquet(path, needed, most) -> Columns:
    import pyarrow.parquet as pq

    schema = pq.read_schema(path)
    check_names(path, schema.names, needed)
    table = pq.read_table(path, columns=needed) if most is None else _head(pq.ParquetFile(path), needed, most)
    features = json.loads((schema.metadata or {}).get(b"huggingface", b"{}")).get("info", {}).get("features", {})
    classes = {c: features[c]["names"] for c in needed if features.get(c, {}).get("_type") == "ClassLabel"}
    return Columns({column: table[column].to_pylist() for column in needed}, classes)


def _head(file, columns, most):
    """The first rows of a Parquet file, at most `most`."""
    import pyarrow as pa

    batches = list(islice(file.iter_batches(most, columns=columns), 1))
    return pa.Table.from_batches(batches) if batches else file.read(columns=columns)


def _saved(path, needed, most) -> Columns:
    from datasets import ClassLabel, DatasetDict, load_from_disk

    data = load_from_disk(str(path))
    if isinstance(data, DatasetDict):
        raise DataError(f"{path} holds several splits; name one: {', '.join(f'{path.name}/{split}' for split in data)}")
    check_names(path, data.column_names, needed)
    classes = {c: data.features[c].names for c in needed if isinstance(data.features[c], ClassLabel)}
    return Columns(data.select_columns(needed)[:most], classes)


def _jsonl(path, needed, most) -> Columns:
    rows, lines, keys, beside = [], [], [], {}
    schemas: dict[tuple[str, ...], tuple[str, ...]] = {}  # most rows have the same keys, which are kept once
    names: dict[str, None] = {}
    with open_text(path) as file:
        for line, text in enumerate(file, 1):
            if not text.strip():
                continue
            row = _object(path, line, text, needed)
            own = tuple(row)
            if own not in schemas:
                schemas[own] = own
                names |= dict.fromkeys(own)
            if any(column not in row for column in needed):
                beside[len(rows)] = {key: _start(value) for key, value in row.items()}
            rows.append([row.get(column) for column in needed])
            lines.append(line)
            keys.append(schemas[own])
            if most is not None and len(rows) >= most and names.keys() >= set(needed):
                break  # not before every column was seen: a row without a label need not have it
    check_names(path, names, needed)
    return Columns({column: [row[k] for row in rows] for k, column in enumerate(needed)}, {}, 0, lines, keys, beside)


def _start(value) -> str:
    """The text of a value, of a long one the beginning."""
    return "" if value is None else str(value)[:LONGEST]


def _object(path: Path, line: int, text: str, needed: Sequence[str]) -> dict:
    try:
        row = json.loads(text)
    except json.JSONDecodeError as error:
        raise DataError(f"{path}: line {line} is not JSON: {error.msg} at character {error.pos + 1}") from None
    if not isinstance(row, dict):
        raise DataError(f"{path}: line {line} is not a JSON object of columns and values")
    for column in needed:
        if text.count(json.dumps(column, ensure_ascii=False)) > 1:
            names = json.loads(text, object_pairs_hook=lambda pairs: [name for name, _ in pairs])  # of the outermost
            if names.count(column) > 1:
                raise DataError(
                    f"{path}: line {line} has {shown(column)} {names.count(column)} times; keep one of them"
                )
    if HALF.search(text):
        try:
            json.dumps(row, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            half = ascii(error.object[error.start])
            raise DataError(f"{path}: line {line} is no text: {half} is half of a character") from None
    return row


READERS = {"parquet": _parquet, "saved": _saved, "jsonl": _jsonl}


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
