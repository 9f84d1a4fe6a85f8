"""Taking from an archive what its study is drawn from."""

import io
from pathlib import Path

import pyarrow.parquet as pq

from heuristic_core.common.atomic import replacing
from heuristic_core.common.errors import InputError
from heuristic_core.experiments.heuristic_core.archive.reading import CLAIMS, NAME, SETTINGS, Crate, read
from heuristic_core.tables.parquet import schema


def unpack(crate: Crate, folder: Path) -> None:
    """Write tables, settings and claims below `folder`. Raises InputError on one that is damaged or cannot be drawn."""
    for name in (SETTINGS, CLAIMS, *(f"tables/{table}.parquet" for table in crate.tables)):
        found = read(crate.path, crate.files, name)
        if name.endswith(".parquet"):
            _check_columns(f"{crate.path}: {name}", Path(name).stem, found)
        with replacing(folder / name) as partial:
            partial.write_bytes(found)


def _check_columns(shown: str, table: str, found: bytes) -> None:
    there = pq.read_schema(io.BytesIO(found)).names
    if absent := [column for column in schema(table).names if column not in there]:
        raise InputError(
            f"{shown} has no column {absent[0]}: another version of this code wrote it; draw it with that version, "
            f"whose name and commit are in {NAME} of the archive"
        )
