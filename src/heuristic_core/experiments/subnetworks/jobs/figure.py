"""Figures and tables for reading."""

from pathlib import Path
from typing import Literal

from heuristic_core.common.roles import Folder, Input, Output
from heuristic_core.experiments.subnetworks.config.analysis import Figures
from heuristic_core.experiments.subnetworks.figures import draw, write
from heuristic_core.experiments.subnetworks.figures.targets import TARGETS
from heuristic_core.experiments.subnetworks.jobs.parameters import StudyContext
from heuristic_core.tables.parquet import read_table


def draw_figure(
    name: Literal[tuple(TARGETS)],
    tables: list[Input],
    figures: Figures,
    context: StudyContext,
    folder: Folder,
    files: list[Output] = (),
) -> None:
    """Draw one figure or table of the paper from the study's tables.

    Args:
        name: Name of the figure or table.
        tables: The tables it is drawn from (Parquet).
        figures: Settings of figures.
        context: A study's configuration file, or the context drawn from it as JSON.
        folder: The study's folder, with figures/ and tables/ in it.
        files: The files that are written there, for the record.
    """
    settings = getattr(figures, name)
    by_name = {Path(path).stem: read_table(path) for path in tables}
    figure, marks = draw(name, by_name, settings, context)
    write(folder, name, figure, marks, settings)
