"""Figures and tables for reading."""

from typing import Literal

from heuristic_core.common.roles import Folder, Input, Output
from heuristic_core.experiments.subnetworks.config.analysis import Figures
from heuristic_core.experiments.subnetworks.figures import draw, write
from heuristic_core.experiments.subnetworks.figures.targets import TARGETS
from heuristic_core.experiments.subnetworks.jobs.parameters import StudyContext
from heuristic_core.jobs.tables import read_by_name


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
    figure, marks = draw(name, read_by_name(tables), settings, context)
    write(folder, name, figure, marks, settings)
