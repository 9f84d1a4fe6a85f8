"""Drawing of targets, figures and tables for reading. Each is a module of a package, with a function `draw`."""

import importlib
from collections.abc import Mapping
from typing import Protocol

from heuristic_core.config.figure import Figure


class DrawingTarget(Protocol):
    """A target.

    Attributes:
        tables: Schema names of the Parquet tables that it is drawn from.
    """

    tables: tuple[str, ...]


def draw(package: str, targets: Mapping[str, DrawingTarget], name: str, tables: Mapping, settings):
    """Draw a target.

    Args:
        package: Package whose module `name` has a function `draw`. Its other modules are not loaded.
        targets: Targets by name.
        name: Name of the target.
        tables: Schema name -> pandas frame, at least for ``targets[name].tables``.
        settings: Settings with the `width` and `dpi` of figures.

    Returns:
        A matplotlib Figure, or None for a table, and a frame of the values behind every mark.

    Raises:
        ValueError: If tables lack what the target needs.
    """
    from heuristic_core.figures import style

    drawing = importlib.import_module(f"{package}.{name}")
    try:
        if absent := [table for table in targets[name].tables if table not in tables]:
            raise ValueError(f"no table {', '.join(absent)}")
        if empty := [table for table in targets[name].tables if tables[table].empty]:
            raise ValueError(f"no rows in table {', '.join(empty)}")
        with style.use_style():
            return drawing.draw(tables, Figure(width=settings.width, dpi=settings.dpi))
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error


def make_sheets(package: str, name: str, marks) -> list | None:
    """Make the tables for reading (``figures.sheets.Sheet``) of a target; return None for a figure.

    Args:
        package: Package whose module `name` draws the target and, if it is a table, has a function `sheets`.
        name: Name of the target.
        marks: The marks that :func:`draw` returned.
    """
    return importlib.import_module(f"{package}.{name}").sheets(marks) if name.startswith("table") else None
