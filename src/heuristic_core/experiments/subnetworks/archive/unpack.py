"""Unpack the files of an archive that figures and tables are drawn from."""

import io
from pathlib import Path

import pyarrow.parquet as pq

from heuristic_core.common.atomic import replace_atomically
from heuristic_core.common.errors import InputError
from heuristic_core.experiments.subnetworks.archive.reading import (
    CLAIMS_FILE,
    METADATA_FILE,
    SETTINGS_FILE,
    Crate,
    read_member,
)
from heuristic_core.tables.parquet import get_schema


def unpack(crate: Crate, folder: Path) -> None:
    """Write tables, settings and claims of an archive into a folder.

    Args:
        crate: The archive.
        folder: Where to write settings and claims, and tables/.

    Raises:
        InputError: If a file is damaged, or a table lacks a column.
    """
    for name in (SETTINGS_FILE, CLAIMS_FILE, *(f"tables/{table}.parquet" for table in crate.tables)):
        content = read_member(crate.path, crate.files, name)
        if name.endswith(".parquet"):
            _check_columns(f"{crate.path}: {name}", Path(name).stem, content)
        with replace_atomically(folder / name) as partial:
            partial.write_bytes(content)


def _check_columns(label: str, table: str, content: bytes) -> None:
    """Raise InputError if a Parquet file lacks a column of its schema."""
    columns = pq.read_schema(io.BytesIO(content)).names
    if missing := [column for column in get_schema(table).names if column not in columns]:
        raise InputError(
            f"{label} has no column {missing[0]}: another version of this code wrote it; draw it with that version, "
            f"whose name and commit are in {METADATA_FILE} of the archive"
        )
