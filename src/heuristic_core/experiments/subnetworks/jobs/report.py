"""The report of a study."""

from heuristic_core.common.atomic import write_text
from heuristic_core.common.roles import Input, Output
from heuristic_core.experiments.subnetworks.jobs.parameters import StudyContext
from heuristic_core.experiments.subnetworks.report.page import render_study_page
from heuristic_core.jobs.figures import ReportInputs


def write_report(
    inputs: ReportInputs,
    context: StudyContext,
    report: Output,
    tables: list[Input] = (),
) -> None:
    """Write a study's report: claims, figures, tables, subnetworks, missing values and provenance.

    Args:
        inputs: Inputs of the report.
        context: A study's configuration file, or the context drawn from it as JSON.
        report: Where to write the report (HTML).
        tables: Further tables that the report reads, for the record.
    """
    write_text(report, render_study_page(inputs.load(), context))
