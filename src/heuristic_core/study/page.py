"""The report of an experiment's studies, made from one template each."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from heuristic_core.config.findings import load_findings
from heuristic_core.figures.targets import drawing_module
from heuristic_core.report.claims import group_claims
from heuristic_core.report.exhibits import load_exhibit, render_caption
from heuristic_core.report.findings import build_findings
from heuristic_core.report.render import render
from heuristic_core.report.study import ReportData, Tile, study_values
from heuristic_core.study.target import Target


class Content(NamedTuple):
    """What a report holds beside claims, figures and tables.

    Attributes:
        variables: Further variables of the template and of the texts of findings.
        tiles: Key numbers of the study.
        warnings: Warning on the runs of each kind that a finding may rest on.
    """

    variables: Mapping[str, Any]
    tiles: Sequence[Tile] = ()
    warnings: Mapping[str, str] = {}


def make_page(
    package: str,
    template: str,
    all_targets: Mapping[str, Target],
    build_sheets: Callable,
    build_content: Callable[..., Content],
    findings: Path | None = None,
    build_view: Callable[[str, pd.DataFrame], dict | None] = lambda name, marks: None,
) -> Callable[..., str]:
    """Return the function that renders the report of an experiment's studies, for ``jobs.figures.make_report_job``.

    Args:
        package: Package with the template, in its folder templates.
        template: Name of the template, which extends study.html.j2.
        all_targets: The experiment's figures and printed tables.
        build_sheets: As in :mod:`heuristic_core.figures.drawing`.
        build_content: Function that returns further content, from the report's data and further arguments of the page.
        findings: File of findings; None for a report that begins with the claims.
        build_view: Function that returns the interactive view of a figure, from its name and its marks.
    """
    find_drawing = partial(drawing_module, all_targets)

    def render_page(data: ReportData, *context: Any) -> str:
        """Render the report of a study."""
        exhibits = [
            load_exhibit(
                data.root,
                name,
                all_targets[name].title,
                render_caption((name, find_drawing(name)), data.captions, data.settings),
                partial(build_sheets, name),
                view=partial(build_view, name),
            )
            for name in data.targets
        ]
        claims = group_claims(data.claims)
        content = build_content(data, *context)
        entries = load_findings(findings).findings if findings else []
        views = build_findings(
            entries, claims, exhibits, content.variables, find_drawing, content.warnings, data.replications
        )
        values = study_values(data, claims, exhibits, views, content.tiles)
        return render(template, package=package, **values, **content.variables)

    return render_page
