"""Jobs of several experiments that draw figures and tables, and write reports.

Each function here returns the job of one experiment: a typed function for :func:`heuristic_core.jobs.job.job`.
"""

import platform
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal, NamedTuple

from heuristic_core.common.atomic import write_text
from heuristic_core.common.roles import Folder, Input, Output
from heuristic_core.config.figure import AllFigures, Figure
from heuristic_core.figures.save import save
from heuristic_core.jobs.tables import read_by_name
from heuristic_core.provenance.digests import package_versions, read_commit
from heuristic_core.provenance.record import read_records
from heuristic_core.report.findings import load_replications
from heuristic_core.report.settings import read_study
from heuristic_core.report.study import ReportData
from heuristic_core.tables.parquet import read_rows


def make_figure_job(targets: Mapping, draw: Callable, build_sheets: Callable) -> Callable[..., None]:
    """Return the job that draws a figure or table of an experiment.

    Args:
        targets: The experiment's figures and tables, by name.
        draw: As in :mod:`heuristic_core.figures.drawing`.
        build_sheets: As in :mod:`heuristic_core.figures.drawing`.
    """

    def draw_figure(
        name: Literal[tuple(targets)],
        tables: list[Input],
        figures: AllFigures,
        folder: Folder,
        files: list[Output] = (),
    ) -> None:
        """Draw one figure or table from the study's tables.

        Args:
            name: Name of the figure or table.
            tables: The tables it is drawn from (Parquet).
            figures: Settings of figures.
            folder: The study's folder, with figures/ and tables/ in it.
            files: Files that are written there, for the record.
        """
        settings = Figure(width=figures.width, dpi=figures.dpi)
        figure, marks = draw(name, read_by_name(tables), settings)
        save(folder, name, figure, marks, settings, targets[name].title, build_sheets(name, marks))

    return draw_figure


class ReportInputs(NamedTuple):
    """Inputs of a job that writes the report of a study.

    Attributes:
        root: The study's folder, with figures/ and tables/ in it.
        settings: The study's study.json, which has its checked settings.
        claims: Table of claims.
        captions: Captions, <target>.rst.
        targets: Figures and tables, in order.
        drawn: Files of the figures and tables, for the record.
        absent: Why other figures and tables are unavailable.
        replicates: Table "table_replicates" of further training seeds of the study, if there is one.
    """

    root: Folder
    settings: Input
    claims: Input
    captions: list[Input]
    targets: list[str]
    drawn: list[Input] = ()
    absent: list[str] = ()
    replicates: list[Input] = ()

    def load(self) -> ReportData:
        """Read the inputs, the records of the study's jobs, and versions of the software."""
        return ReportData(
            Path(self.root),
            settings=read_study(self.settings)["settings"],
            claims=read_rows(self.claims),
            captions={Path(path).stem: Path(path).read_text() for path in self.captions},
            targets=self.targets,
            records=read_records(self.root),
            versions={"platform": platform.platform(), **package_versions(), "commit": str(read_commit())},
            absent=list(self.absent),
            replications={key: value for path in self.replicates for key, value in load_replications(path).items()},
        )


def make_report_job(render_page: Callable[[ReportData], str]) -> Callable[..., None]:
    """Return the job that writes the report of an experiment's study.

    Args:
        render_page: Function that :func:`heuristic_core.study.page.make_page` returned.
    """

    def write_report(inputs: ReportInputs, report: Output) -> None:
        """Write a study's report: claims, figures, tables and their provenance.

        Args:
            inputs: Inputs of the report.
            report: Where to write the report (HTML).
        """
        write_text(report, render_page(inputs.load()))

    return write_report
