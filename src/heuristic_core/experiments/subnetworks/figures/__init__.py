"""The paper's figures and tables: pure functions from tables to a figure and the values behind its marks.

Each module draws one target with ``draw(tables, settings, context)``; :func:`draw` describes its arguments. It returns
the figure and the marks. Modules of tables also define ``sheets(marks)``, the tables for reading.
"""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from heuristic_core.config.figure import Figure
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.experiments.subnetworks.figures.targets import TARGETS
from heuristic_core.figures import drawing

if TYPE_CHECKING:
    import matplotlib.figure
    import pandas as pd

build_sheets = partial(drawing.build_sheets, __name__, TARGETS)


def draw(name: str, tables: drawing.Tables, settings: Figure, context: Context) -> drawing.Drawing:
    """Draw a target, with subsets by their labels. Text is never mathematics, as names of heads and subsets are free.

    Args:
        name: A key of ``TARGETS``.
        tables: Data frames by schema name, at least the tables of ``TARGETS[name]``.
        settings: Settings of the target.
        context: Context of the study.

    Returns:
        The matplotlib Figure, None for a table, and the marks: a frame of the values behind every mark.

    Raises:
        ValueError: If the tables lack what the target needs; the message names the target.
    """
    return drawing.draw(__name__, TARGETS, name, *_label_subsets(tables, settings, context), parse_math=False)


def write(
    folder: str | Path, name: str, figure: "matplotlib.figure.Figure | None", marks: "pd.DataFrame", settings: Figure
) -> None:
    """Write the files of a target, as ``figures.save.save`` does.

    Args:
        folder: Folder of figures and tables.
        name: A key of ``TARGETS``.
        figure: The figure that :func:`draw` returned; None for a table.
        marks: The marks that :func:`draw` returned.
        settings: Settings of the target.
    """
    from heuristic_core.figures.save import save

    save(folder, name, figure, marks, settings, TARGETS[name].title, build_sheets(name, marks), parse_math=False)


def _label_subsets(tables: Mapping, settings: Figure, context: Context) -> tuple:
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
