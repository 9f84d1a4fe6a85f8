"""Reading and writing the Parquet tables, whose schemas are in `schemas`."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from heuristic_core.common.atomic import replacing
from heuristic_core.tables.columns import STRING
from heuristic_core.tables.schemas import schema

ROW_GROUP_SIZE = 1 << 20  # rows of a row group, pyarrow's own number


def as_table(name: str, rows) -> pa.Table:
    """`rows` (a pandas frame, an Arrow table, a list of dicts or a dict of columns) as table `name`.

    Columns are put into the schema's order and cast; a missing or an unknown column is an error.
    """
    wanted = schema(name)
    if isinstance(rows, pa.Table):
        table = rows
    elif isinstance(rows, Mapping):
        table = pa.table({c: pa.array(v, wanted.field(c).type if c in wanted.names else None) for c, v in rows.items()})
    elif isinstance(rows, list):
        uneven = [row for row in rows if row.keys() != set(wanted.names)]  # Arrow itself looks at the first row alone
        table = pa.Table.from_pylist(uneven[:1] or rows) if rows else wanted.empty_table()
    else:
        table = pa.Table.from_pandas(rows, preserve_index=False)
    if set(table.column_names) != set(wanted.names):
        raise ValueError(f"table {name}: columns {sorted(table.column_names)}, expected {sorted(wanted.names)}")
    return table.select(wanted.names).cast(wanted)


def write_table(name: str, rows, path: str | Path) -> None:
    """Write `rows`, of any kind that :func:`as_table` takes, as table `name`. The same rows give the same bytes."""
    with replacing(path) as partial:
        pq.write_table(as_table(name, rows), partial, compression="zstd")


def as_frame(table: pa.Table):
    """An Arrow table as a pandas frame; integers that may be null come as pandas' nullable Int32."""
    import pandas as pd

    return table.to_pandas(types_mapper={pa.int32(): pd.Int32Dtype()}.get)


def read_table(path: str | Path, without: Iterable[str] = ()):
    """A table as a pandas frame, see :func:`as_frame`, but for the columns `without`, which are not even read."""
    return as_frame(pq.read_table(path, columns=[c for c in pq.read_schema(path).names if c not in set(without)]))


def read_coded(path: str | Path | Sequence[str | Path], columns: Iterable[str]):
    """Columns of a table as a pandas frame, text as categories: tens of millions of rows would not fit as text.

    path: of its file, or of several files of it, whose rows follow one another.
    """
    columns, first = list(columns), path if isinstance(path, str | Path) else path[0]
    return as_frame(pq.read_table(path, columns=columns, read_dictionary=_text_columns(first, columns)))


def coded_groups(path: str | Path, columns: Iterable[str]) -> Iterator:
    """The same of one file, a row group at a time."""
    columns = list(columns)
    with pq.ParquetFile(path, read_dictionary=_text_columns(path, columns)) as file:
        for number in range(file.num_row_groups):
            yield as_frame(file.read_row_group(number, columns))


def coded_frame(tables: Iterable[pa.Table]):
    """Tables as one pandas frame, text as categories in the order in which they appear, as :func:`read_coded`."""
    coded = [pa.table({name: _encode(table[name]) for name in table.column_names}) for table in tables]
    return as_frame(pa.concat_tables(coded))


def _encode(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column.dictionary_encode() if column.type == STRING else column


def read_rows(path: str | Path) -> list[dict]:
    """A table as a list of rows."""
    return pq.read_table(path).to_pylist()


def concatenate(name: str, paths: Iterable[str | Path]) -> pa.Table:
    """The rows of several files of table `name`, in the order given; an empty table for no file."""
    return pa.concat_tables([schema(name).empty_table(), *(pq.read_table(path) for path in paths)])


def write_joined(name: str, paths: Iterable[str | Path], path: str | Path) -> None:
    """Write the rows of several files of table `name`, in the order given, as one; some row groups are in memory."""
    with replacing(path) as partial, pq.ParquetWriter(partial, schema(name), compression="zstd") as writer:
        for part in paths:
            for rows in _in_groups(part):
                writer.write_table(as_table(name, rows))


def _in_groups(path: str | Path) -> Iterator[pa.Table]:
    """A file's rows, `GROUP` at a time: each makes one row group, as if the whole were written at once."""
    with pq.ParquetFile(path) as file:
        kept = file.schema_arrow.empty_table()
        for number in range(file.num_row_groups):
            kept = pa.concat_tables([kept, file.read_row_group(number)])
            while len(kept) >= ROW_GROUP_SIZE:
                yield kept.slice(0, ROW_GROUP_SIZE)
                kept = kept.slice(ROW_GROUP_SIZE)
        if len(kept):
            yield kept


def _text_columns(path: str | Path, columns: Collection[str]) -> list[str]:
    return [field.name for field in pq.read_schema(path) if field.name in columns and field.type == STRING]


def matrix(column: pa.ChunkedArray):
    """A column of lists of one length as a numpy array [rows, length]."""
    return column.combine_chunks().flatten().to_numpy(zero_copy_only=False).reshape(len(column), -1)
