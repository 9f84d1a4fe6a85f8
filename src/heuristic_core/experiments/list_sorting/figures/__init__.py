"""Figures and tables of the list-sorting experiment: pure functions from tables to a figure and values of its marks."""

import importlib
from collections.abc import Mapping

from heuristic_core.config.figure import Figure
from heuristic_core.experiments.list_sorting.figures.targets import TARGETS


def draw(name: str, tables: Mapping, settings):
    """Target `name` as (figure, marks): a matplotlib Figure, None for a table, and the values behind every mark.

    tables: pandas frames by schema name, at least those of ``TARGETS[name].tables``. settings: the study's
    ``SortingFigures``. Only the module of that one target is loaded.
    Raises ValueError, naming the target, where what it needs is absent from the tables.
    """
    from heuristic_core.figures import style

    drawing = _module(name)
    try:
        if absent := [table for table in TARGETS[name].tables if table not in tables]:
            raise ValueError(f"no table {', '.join(absent)}")
        if empty := [table for table in TARGETS[name].tables if tables[table].empty]:
            raise ValueError(f"no rows in table {', '.join(empty)}")
        with style.applied():
            return drawing.draw(tables, Figure(width=settings.width, dpi=settings.dpi))
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error


def sheets_of(name: str, marks) -> list | None:
    """The tables for reading (``figures.sheets.Sheet``) of table target `name`; None of a figure.

    marks: those that :func:`draw` gave.
    """
    return _module(name).sheets(marks) if name.startswith("table") else None


def _module(name: str):
    return importlib.import_module(f"heuristic_core.experiments.list_sorting.figures.{name}")
