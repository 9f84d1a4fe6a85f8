"""Reading and writing of the Parquet tables whose schemas are in :mod:`heuristic_core.tables.schemas`."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from heuristic_core.common.atomic import replace_atomically
from heuristic_core.tables.columns import STRING
from heuristic_core.tables.schemas import get_schema

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    Rows = pa.Table | pd.DataFrame | Mapping[str, Any] | list[dict[str, Any]]

ROW_GROUP_SIZE = 1 << 20  # rows of a row group, pyarrow's default


def as_table(name: str, rows: "Rows") -> pa.Table:
    """Convert rows to an Arrow table with the schema of table `name`.

    Args:
        name: Name of the table in `SCHEMAS`.
        rows: A pandas frame, an Arrow table, a list of dicts or a dict of columns.

    Returns:
        Columns in the order and with the types of the schema.

    Raises:
        ValueError: If a column is missing or unknown.
    """
    expected = get_schema(name)
    if isinstance(rows, pa.Table):
        table = rows
    elif isinstance(rows, Mapping):
        types = {field.name: field.type for field in expected}
        table = pa.table({column: pa.array(values, types.get(column)) for column, values in rows.items()})
    elif isinstance(rows, list):
        invalid = [row for row in rows if row.keys() != set(expected.names)]  # Arrow checks only the first row
        table = pa.Table.from_pylist(invalid[:1] or rows) if rows else expected.empty_table()
    else:
        table = pa.Table.from_pandas(rows, preserve_index=False)
    if set(table.column_names) != set(expected.names):
        raise ValueError(f"table {name}: columns {sorted(table.column_names)}, expected {sorted(expected.names)}")
    return table.select(expected.names).cast(expected)


def write_table(name: str, rows: "Rows", path: str | Path) -> None:
    """Write a table. The same rows give the same bytes.

    Args:
        name: Name of the table in `SCHEMAS`.
        rows: Rows in any form that :func:`as_table` accepts.
        path: Path of the Parquet file.
    """
    with replace_atomically(path) as partial:
        pq.write_table(as_table(name, rows), partial, compression="zstd")


def as_frame(table: pa.Table) -> "pd.DataFrame":
    """Convert an Arrow table to a pandas frame; integers become pandas' nullable Int32."""
    import pandas as pd

    return table.to_pandas(types_mapper={pa.int32(): pd.Int32Dtype()}.get)


def read_table(path: str | Path, without: Iterable[str] = ()) -> "pd.DataFrame":
    """Read a table as a pandas frame, see :func:`as_frame`.

    Args:
        path: Path of the Parquet file.
        without: Columns to leave out.
    """
    return as_frame(pq.read_table(path, columns=[c for c in pq.read_schema(path).names if c not in set(without)]))


def read_categorical(path: str | Path | Sequence[str | Path], columns: Iterable[str]) -> "pd.DataFrame":
    """Read columns of a table as a pandas frame, text as categories, which need less memory.

    Args:
        path: Path of a Parquet file, or of several files whose rows are concatenated.
        columns: Names of the columns.
    """
    columns, first = list(columns), path if isinstance(path, str | Path) else path[0]
    return as_frame(pq.read_table(path, columns=columns, read_dictionary=_text_columns(first, columns)))


def iter_categorical_groups(path: str | Path, columns: Iterable[str]) -> Iterator["pd.DataFrame"]:
    """Read columns of a file like :func:`read_categorical`, one row group at a time.

    Args:
        path: Path of the Parquet file.
        columns: Names of the columns.

    Yields:
        A frame for each row group.
    """
    columns = list(columns)
    with pq.ParquetFile(path, read_dictionary=_text_columns(path, columns)) as file:
        for number in range(file.num_row_groups):
            yield as_frame(file.read_row_group(number, columns))


def to_categorical_frame(tables: Iterable[pa.Table]) -> "pd.DataFrame":
    """Concatenate tables as one frame, text as categories in order of appearance, like :func:`read_categorical`."""
    encoded = [pa.table({name: _encode(table[name]) for name in table.column_names}) for table in tables]
    return as_frame(pa.concat_tables(encoded))


def _encode(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column of text dictionary-encoded; other columns unchanged."""
    return column.dictionary_encode() if column.type == STRING else column


def read_rows(path: str | Path) -> list[dict]:
    """Read a table as a list of dicts, one per row."""
    return pq.read_table(path).to_pylist()


def concatenate(name: str, paths: Iterable[str | Path]) -> pa.Table:
    """Concatenate files of a table; no files give an empty table.

    Args:
        name: Name of the table in `SCHEMAS`.
        paths: Paths of the Parquet files, in the order of the rows.
    """
    return pa.concat_tables([get_schema(name).empty_table(), *(pq.read_table(path) for path in paths)])


def write_joined(name: str, paths: Iterable[str | Path], path: str | Path) -> None:
    """Write the rows of several files as one file, with only a few row groups in memory.

    Args:
        name: Name of the table in `SCHEMAS`.
        paths: Paths of the files, in the order of the rows.
        path: Path of the file to write.
    """
    with replace_atomically(path) as partial, pq.ParquetWriter(partial, get_schema(name), compression="zstd") as writer:
        for part in paths:
            for rows in _iter_row_groups(part):
                writer.write_table(as_table(name, rows))


def _iter_row_groups(path: str | Path) -> Iterator[pa.Table]:
    """Yield a file's rows, `ROW_GROUP_SIZE` at a time: the row groups that pyarrow writes for the whole table."""
    with pq.ParquetFile(path) as file:
        buffer = file.schema_arrow.empty_table()
        for number in range(file.num_row_groups):
            buffer = pa.concat_tables([buffer, file.read_row_group(number)])
            while len(buffer) >= ROW_GROUP_SIZE:
                yield buffer.slice(0, ROW_GROUP_SIZE)
                buffer = buffer.slice(ROW_GROUP_SIZE)
        if len(buffer):
            yield buffer


def _text_columns(path: str | Path, columns: Collection[str]) -> list[str]:
    """Return those of `columns` that hold text."""
    return [field.name for field in pq.read_schema(path) if field.name in columns and field.type == STRING]


def to_matrix(column: pa.ChunkedArray) -> "np.ndarray":
    """Convert a column of lists of equal length to a numpy array [rows, length]."""
    return column.combine_chunks().flatten().to_numpy(zero_copy_only=False).reshape(len(column), -1)
