"""The report of a study."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from heuristic_core.config.findings import load_findings
from heuristic_core.report.claims import group_claims
from heuristic_core.report.exhibits import load_exhibit, render_caption
from heuristic_core.report.findings import build_findings
from heuristic_core.report.render import render
from heuristic_core.report.study import ReportData, study_values
from heuristic_core.study.target import Target


def make_page(
    package: str,
    template: str,
    all_targets: Mapping[str, Target],
    build_sheets: Callable,
    make_variables: Callable[[Path, dict, Sequence[str]], dict],
    findings: Path | None = None,
) -> Callable[[ReportData], str]:
    """Return the function that renders the report of an experiment's studies, for ``jobs.figures.make_report_job``.

    Args:
        package: Package with the template, in its folder templates.
        template: Name of the template, which extends study.html.j2.
        all_targets: The experiment's figures and printed tables.
        build_sheets: As in :mod:`heuristic_core.figures.drawing`.
        make_variables: Function that returns further variables of the template, from folder, settings and targets.
        findings: File of findings; None for a report that begins with the claims.
    """

    def render_page(data: ReportData) -> str:
        """Render the report of a study."""
        exhibits = [
            load_exhibit(
                data.root,
                name,
                all_targets[name].title,
                render_caption((name,), data.captions, data.settings),
                partial(build_sheets, name),
            )
            for name in data.targets
        ]
        claims = group_claims(data.claims)
        variables = make_variables(data.root, data.settings, data.targets)
        entries = load_findings(findings).findings if findings else []
        return render(
            template,
            package=package,
            **study_values(data, claims, exhibits, build_findings(entries, claims, exhibits, variables)),
            **variables,
        )

    return render_page
