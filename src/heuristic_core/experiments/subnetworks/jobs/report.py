"""The report of a study."""

import platform
from pathlib import Path

from heuristic_core.common.atomic import write_text
from heuristic_core.common.roles import Folder, Input, Output
from heuristic_core.experiments.subnetworks.jobs.parameters import StudyContext
from heuristic_core.experiments.subnetworks.report.page import render_study_page
from heuristic_core.provenance.digests import package_versions, read_commit
from heuristic_core.provenance.record import read_records
from heuristic_core.report.settings import read_study
from heuristic_core.tables.parquet import read_rows


def write_report(
    root: Folder,
    context: StudyContext,
    settings: Input,
    claims: Input,
    captions: list[Input],
    targets: list[str],
    report: Output,
    splits: Input | None = None,
    runs: Input | None = None,
    chance: Input | None = None,
    drawn: list[Input] = (),
    subnetworks: list[Input] = (),
    absent: list[str] = (),
) -> None:
    """Write a study's report: what it shows and does not show, its figures and tables, and how they came about.

    Args:
        root: The study's folder, with figures/ and tables/ in it.
        context: A study's configuration file, or the context drawn from it as JSON.
        settings: The study's study.json, which has its checked settings.
        claims: Table of claims.
        captions: Captions, <target>.rst.
        targets: Figures and tables, in order.
        report: Where to write the report (HTML).
        splits: Table of splits, for the record.
        runs: Table of pruning runs, for the record.
        chance: Table of full models against chance, for the record.
        drawn: Files of the figures and tables, for the record.
        subnetworks: Tables that describe subnetworks, for the record.
        absent: Why the study cannot have the other figures and tables.
    """
    page = render_study_page(
        Path(root),
        context,
        settings=read_study(settings)["settings"],
        claims=read_rows(claims),
        captions={Path(path).stem: Path(path).read_text() for path in captions},
        targets=targets,
        records=read_records(root),
        made_with={"platform": platform.platform(), **package_versions(), "commit": str(read_commit())},
        absent=list(absent),
    )
    write_text(report, page)
