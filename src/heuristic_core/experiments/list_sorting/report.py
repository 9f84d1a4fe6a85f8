"""The report of a list-sorting study."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from heuristic_core.experiments.list_sorting.figures import build_sheets
from heuristic_core.experiments.list_sorting.figures.targets import TARGETS
from heuristic_core.experiments.list_sorting.slider import sliders
from heuristic_core.report.exhibits import load_exhibit, render_caption
from heuristic_core.report.render import render
from heuristic_core.report.study import study_values

MAPS = "figure_circuits"


def sorting_page(
    root: Path,
    settings: dict,
    claims: Sequence[dict],
    captions: Mapping[str, str],
    targets: Sequence[str],
    records: Sequence[Mapping],
    made_with: Mapping[str, str],
    absent: Sequence[str] = (),
) -> str:
    """Render the HTML report of the study whose results are under `root`.

    Args:
        root: Folder of the study.
        settings: The study's settings; see :func:`study_values`, as for `claims`, `records`, `made_with` and `absent`.
        claims: Judgement claims.
        captions: Captions by target.
        targets: Figures and tables to show, in order; figure_circuits also adds the sliders.
        records: Records of jobs.
        made_with: Versions of packages.
        absent: Targets that the study cannot have.
    """
    exhibits = [
        load_exhibit(
            root, name, TARGETS[name].title, render_caption((name,), captions, settings), partial(build_sheets, name)
        )
        for name in targets
    ]
    return render(
        "sorting.html.j2",
        package="heuristic_core.experiments.list_sorting",
        **study_values(root, settings, claims, exhibits, records, made_with, absent),
        conditions=list(settings["conditions"]),
        sliders=sliders(root / "figures" / f"{MAPS}.csv") if MAPS in targets else [],
    )
