"""Drawing of targets, figures and tables for reading. Each is a module of a package, with a function `draw`."""

import importlib
from collections.abc import Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeAlias

from heuristic_core.config.figure import Figure
from heuristic_core.figures.targets import DrawingTarget, drawing_module

if TYPE_CHECKING:
    import matplotlib.figure
    import pandas as pd

Tables: TypeAlias = "Mapping[str, pd.DataFrame]"  # by schema name
Drawing: TypeAlias = "tuple[matplotlib.figure.Figure | None, pd.DataFrame]"  # None for a table; and its marks


def draw(
    package: str,
    targets: Mapping[str, DrawingTarget],
    name: str,
    tables: Tables,
    settings: Figure,
    *context: Any,
    parse_math: bool = True,
) -> Drawing:
    """Draw a target.

    Args:
        package: Package of the modules that draw targets. Only the module of this target is loaded.
        targets: Targets by name.
        name: Name of the target.
        tables: Schema name -> pandas frame, at least for ``targets[name].tables``.
        settings: Settings of the target.
        context: Further arguments of the package's functions `draw`.
        parse_math: Whether text between dollar signs is set as mathematics.

    Returns:
        A matplotlib Figure, or None for a table, and a frame of the values behind every mark.

    Raises:
        ValueError: If tables lack what the target needs.
    """
    from heuristic_core.figures import style

    drawing = _load_module(package, targets, name)
    try:
        if absent := [table for table in targets[name].tables if table not in tables]:
            raise ValueError(f"no table {', '.join(absent)}")
        required = set(targets[name].tables) - set(targets[name].possibly_empty)
        if empty := sorted(table for table in required if tables[table].empty):
            raise ValueError(f"no rows in table {', '.join(empty)}")
        with style.use_style(parse_math=parse_math):
            return drawing.draw(tables, settings, *context)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error


def build_sheets(package: str, targets: Mapping[str, DrawingTarget], name: str, marks: "pd.DataFrame") -> list | None:
    """Build the tables for reading (``figures.sheets.Sheet``) of a target; return None for a figure.

    Args:
        package: Package of the modules that draw targets. Those of tables have a function `sheets`.
        targets: Targets by name.
        name: Name of the target.
        marks: The marks that :func:`draw` returned.
    """
    return _load_module(package, targets, name).sheets(marks) if name.startswith("table") else None


def _load_module(package: str, targets: Mapping[str, DrawingTarget], name: str) -> ModuleType:
    return importlib.import_module(f"{package}.{drawing_module(targets, name)}")
