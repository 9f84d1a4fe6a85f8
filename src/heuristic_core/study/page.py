"""The report of a study."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from heuristic_core.report.exhibits import load_exhibit, render_caption
from heuristic_core.report.render import render
from heuristic_core.report.study import study_values
from heuristic_core.study.target import Target


def make_page(
    package: str,
    template: str,
    all_targets: Mapping[str, Target],
    build_sheets: Callable,
    make_variables: Callable[[Path, dict, Sequence[str]], dict],
) -> Callable[..., str]:
    """Return the function that renders the report of an experiment's studies, for ``jobs.figures.make_report_job``.

    Args:
        package: Package with the template, in its folder templates.
        template: Name of the template, which extends study.html.j2.
        all_targets: The experiment's figures and printed tables.
        build_sheets: As in :mod:`heuristic_core.figures.drawing`.
        make_variables: Returns the template's further variables, from the study's folder and settings and the targets.
    """

    def render_page(
        root: Path,
        settings: dict,
        claims: Sequence[dict],
        captions: Mapping[str, str],
        targets: Sequence[str],
        records: Sequence[Mapping],
        made_with: Mapping[str, str],
        absent: Sequence[str] = (),
    ) -> str:
        """Render the report of the study in `root`.

        Args:
            root: Folder of the study.
            settings: The study's settings; see :func:`study_values`, as for `claims`, `records`, `made_with`, `absent`.
            claims: Rows of table "claims".
            captions: Captions by target.
            targets: Figures and printed tables to show, in order.
            records: Records of jobs.
            made_with: Versions of packages.
            absent: Why the study cannot have the other targets.
        """
        exhibits = [
            load_exhibit(
                root,
                name,
                all_targets[name].title,
                render_caption((name,), captions, settings),
                partial(build_sheets, name),
            )
            for name in targets
        ]
        return render(
            template,
            package=package,
            **study_values(root, settings, claims, exhibits, records, made_with, absent),
            **make_variables(root, settings, targets),
        )

    return render_page
