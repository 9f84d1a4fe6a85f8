"""The report of a study of extractive structures."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from heuristic_core.experiments.extractive_structures.figures import build_sheets
from heuristic_core.experiments.extractive_structures.figures.targets import TARGETS
from heuristic_core.report.exhibits import load_exhibit, render_caption
from heuristic_core.report.render import render
from heuristic_core.report.study import study_values


def extractive_page(
    root: Path,
    settings: dict,
    claims: Sequence[dict],
    captions: Mapping[str, str],
    targets: Sequence[str],
    records: Sequence[Mapping],
    made_with: Mapping[str, str],
    absent: Sequence[str] = (),
) -> str:
    """Render the HTML report of a study.

    Args:
        root: Folder of the study's results.
        settings: The study's checked settings.
        claims: Rows of table "claims".
        captions: Captions by target.
        targets: Names of the figures and tables in the report, in order.
        records: Records of the study's jobs.
        made_with: Versions of software by name.
        absent: Why each missing figure or table is missing.
    """
    exhibits = [
        load_exhibit(
            root, name, TARGETS[name].title, render_caption((name,), captions, settings), partial(build_sheets, name)
        )
        for name in targets
    ]
    return render(
        "extractive.html.j2",
        package="heuristic_core.experiments.extractive_structures",
        **study_values(root, settings, claims, exhibits, records, made_with, absent),
        seeds=len(settings["seeds"]),
        cities=settings["data"]["cities"],
    )
