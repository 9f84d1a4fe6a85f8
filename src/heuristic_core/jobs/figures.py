"""Jobs that several experiments have and that draw: a figure or table, the report.

Each function here returns the job of one experiment: a typed function for :func:`heuristic_core.jobs.job.job`.
"""

import platform
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal

from heuristic_core.common.atomic import write_text
from heuristic_core.common.roles import Folder, Input, Output
from heuristic_core.config.blocks import Block
from heuristic_core.figures.save import save
from heuristic_core.jobs.tables import read_by_name
from heuristic_core.provenance.digests import package_versions, read_commit
from heuristic_core.provenance.record import read_records
from heuristic_core.report.settings import read_study
from heuristic_core.tables.parquet import read_rows


def make_figure_job(
    targets: Mapping, settings: type[Block], draw: Callable, build_sheets: Callable
) -> Callable[..., None]:
    """Return the job that draws a figure or table of an experiment.

    Args:
        targets: The experiment's figures and tables, by name.
        settings: The block `figures` of the experiment's configuration.
        draw: As in :mod:`heuristic_core.figures.drawing`.
        build_sheets: Likewise.
    """

    def draw_figure(
        name: Literal[tuple(targets)], tables: list[Input], figures: settings, folder: Folder, files: list[Output] = ()
    ) -> None:
        """Draw one figure or table from the study's tables.

        Args:
            name: Which one.
            tables: The tables it is drawn from (Parquet).
            figures: Settings of figures.
            folder: The study's folder, with figures/ and tables/ in it.
            files: The files that are written there, for the record.
        """
        figure, marks = draw(name, read_by_name(tables), figures)
        save(folder, name, figure, marks, figures, targets[name].title, build_sheets(name, marks))

    return draw_figure


def make_report_job(page: Callable[..., str]) -> Callable[..., None]:
    """Return the job that writes the report of an experiment.

    Args:
        page: The ``<experiment>_page`` of the experiment's `report`.
    """

    def write_report(
        root: Folder,
        settings: Input,
        claims: Input,
        captions: list[Input],
        targets: list[str],
        report: Output,
        drawn: list[Input] = (),
        absent: list[str] = (),
    ) -> None:
        """Write a study's report: claims, figures, tables and their provenance.

        Args:
            root: The study's folder, with figures/ and tables/ in it.
            settings: The study's study.json, which has its checked settings.
            claims: Table of claims.
            captions: Captions, <target>.rst.
            targets: Figures and tables, in order.
            report: Where to write the report (HTML).
            drawn: Files of the figures and tables, for the record.
            absent: Why the study cannot have the other figures and tables.
        """
        html = page(
            Path(root),
            settings=read_study(settings)["settings"],
            claims=read_rows(claims),
            captions={Path(path).stem: Path(path).read_text() for path in captions},
            targets=targets,
            records=read_records(root),
            made_with={"platform": platform.platform(), **package_versions(), "commit": str(read_commit())},
            absent=list(absent),
        )
        write_text(report, html)

    return write_report
