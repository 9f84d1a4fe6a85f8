"""The paper's figures and tables: pure functions from tables to a figure and the values behind its marks."""

import importlib
from collections.abc import Mapping

from heuristic_core.experiments.heuristic_core.figures.targets import TARGETS, module


def draw(name: str, tables: Mapping, settings, context):
    """Target `name` as (figure, marks): a matplotlib Figure, None for a table, and the values behind every mark.

    tables: pandas frames by schema name, at least those of ``TARGETS[name]``. settings: the target's
    ``config.figure.Figure``. context: what figures need to know of the study.
    Only the module of that one target is loaded.
    Raises ValueError, naming the target, where what it needs is absent from the tables.
    """
    from heuristic_core.figures import style

    drawing = importlib.import_module(f"{__name__}.{module(name)}")
    try:
        if absent := [table for table in TARGETS[name].tables if table not in tables]:
            raise ValueError(f"no table {', '.join(absent)}")
        with style.applied(formulas=False):
            return drawing.draw(tables, settings, context)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error


def sheets_of(name: str, marks) -> list | None:
    """The tables for reading (``figures.sheets.Sheet``) of table target `name`; None of a figure.

    marks: those that :func:`draw` gave.
    """
    if not name.startswith("table"):
        return None
    return importlib.import_module(f"{__name__}.{module(name)}").sheets(marks)


def write(folder, name: str, figure, marks, settings) -> None:
    """Write what :func:`draw` gave for target `name`, as ``figures.save.save``, under its title."""
    from heuristic_core.figures.save import save

    title, sheets = TARGETS[name].title, sheets_of(name, marks)
    save(folder, name, figure, marks, settings, title, sheets, formulas=False)
