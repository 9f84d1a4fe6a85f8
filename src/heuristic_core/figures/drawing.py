"""Figures and tables for reading that a package has a module each for: pure functions from tables to a figure."""

import importlib
from collections.abc import Mapping
from typing import Protocol

from heuristic_core.config.figure import Figure


class Drawn(Protocol):
    """A target. tables: the Parquet tables it is drawn from, by schema name."""

    tables: tuple[str, ...]


def draw(package: str, targets: Mapping[str, Drawn], name: str, tables: Mapping, settings):
    """Target `name` as (figure, marks): a matplotlib Figure, None for a table, and the values behind every mark.

    package: its module `name` has a function `draw`; no other module of it is loaded. tables: pandas frames by schema
    name, at least those of ``targets[name].tables``. settings: with the `width` and `dpi` of figures.
    Raises ValueError, naming the target, where what it needs is absent from the tables.
    """
    from heuristic_core.figures import style

    drawing = importlib.import_module(f"{package}.{name}")
    try:
        if absent := [table for table in targets[name].tables if table not in tables]:
            raise ValueError(f"no table {', '.join(absent)}")
        if empty := [table for table in targets[name].tables if tables[table].empty]:
            raise ValueError(f"no rows in table {', '.join(empty)}")
        with style.applied():
            return drawing.draw(tables, Figure(width=settings.width, dpi=settings.dpi))
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error


def sheets_of(package: str, name: str, marks) -> list | None:
    """The tables for reading (``figures.sheets.Sheet``) of table target `name`; None of a figure.

    marks: those that :func:`draw` gave.
    """
    return importlib.import_module(f"{package}.{name}").sheets(marks) if name.startswith("table") else None
