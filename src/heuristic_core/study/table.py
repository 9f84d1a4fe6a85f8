"""Tables of an experiment."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import pyarrow as pa

from heuristic_core.tables.schemas import SCHEMAS

Columns = Mapping[str, tuple[pa.DataType, str]]  # type and description by name


class Table(NamedTuple):
    """A table of an experiment.

    Attributes:
        columns: Type and description of every column.
        parts: Pattern of the files that it is joined from, below the folder :attr:`Layout.parts`, with wildcards as
            :meth:`Experiment.list_wildcards` returns them; None if a rule makes all of it.
        exists: Returns whether a study has the table.
        reported: Whether the report reads it, besides the tables of its figures.
        archived: Whether archives of studies contain it, as all tables that figures, claims or the report read.
    """

    columns: Columns
    parts: str | None = None
    exists: Callable[[Any], bool] = lambda study: True
    reported: bool = False
    archived: bool = True


def register_tables(tables: Mapping[str, Table]) -> None:
    """Add the schemas of tables to :data:`heuristic_core.tables.schemas.SCHEMAS`, where files are read and written."""
    SCHEMAS.update({name: table.columns for name, table in tables.items()})
