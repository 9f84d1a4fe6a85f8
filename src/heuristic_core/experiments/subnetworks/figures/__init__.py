"""The paper's figures and tables: pure functions from tables to a figure and the values behind its marks.

Each module draws one target with ``draw(tables, settings, context)``; :func:`draw` describes its arguments. It returns
the figure and the marks. Modules of tables also define ``sheets(marks)``, the tables for reading.
"""

import importlib
from collections.abc import Mapping

from heuristic_core.experiments.subnetworks.figures.targets import TARGETS, drawing_module


def draw(name: str, tables: Mapping, settings, context):
    """Draw target `name`; only the module of this target is imported.

    Args:
        name: A key of ``TARGETS``.
        tables: Data frames by schema name, at least the tables of ``TARGETS[name]``.
        settings: The target's ``config.figure.Figure``.
        context: The study's ``config.context.Context``.

    Returns:
        The matplotlib Figure, None for a table, and the marks: a frame of the values behind every mark.

    Raises:
        ValueError: If the tables lack what the target needs; the message names the target.
    """
    from heuristic_core.figures import style

    drawing = importlib.import_module(f"{__name__}.{drawing_module(name)}")
    try:
        if missing := [table for table in TARGETS[name].tables if table not in tables]:
            raise ValueError(f"no table {', '.join(missing)}")
        with style.use_style(parse_math=False):
            return drawing.draw(*_name_subsets(tables, settings, context))
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error


def _name_subsets(tables: Mapping, settings, context) -> tuple:
    """Replace subsets by their labels in the arguments of a drawing function."""
    from heuristic_core.experiments.subnetworks.analysis.names import label_subsets

    named = {key: table for key, table in tables.items() if "subset" in table}
    subsets = {*(settings.subsets or ()), *(context.subsets or ())}
    subsets |= {subset for table in named.values() for subset in table["subset"].dropna().unique()}
    labels = label_subsets(subsets, context.names)
    chosen = [
        block.model_copy(update={"subsets": block.subsets and type(block.subsets)(map(labels.get, block.subsets))})
        for block in (settings, context)
    ]
    renamed = {key: table.assign(subset=table["subset"].map(labels)) for key, table in named.items()}
    return {**tables, **renamed}, *chosen


def build_sheets(name: str, marks) -> list | None:
    """Return the tables for reading (``figures.sheets.Sheet``) of table target `name`, None for a figure.

    Args:
        name: A key of ``TARGETS``.
        marks: The marks that :func:`draw` returned.
    """
    if not name.startswith("table"):
        return None
    return importlib.import_module(f"{__name__}.{drawing_module(name)}").sheets(marks)


def write(folder, name: str, figure, marks, settings) -> None:
    """Write the files of a target, as ``figures.save.save`` does.

    Args:
        folder: Folder of figures and tables.
        name: A key of ``TARGETS``.
        figure: The figure that :func:`draw` returned; None for a table.
        marks: The marks that :func:`draw` returned.
        settings: The target's ``config.figure.Figure``.
    """
    from heuristic_core.figures.save import save

    title, sheets = TARGETS[name].title, build_sheets(name, marks)
    save(folder, name, figure, marks, settings, title, sheets, parse_math=False)
