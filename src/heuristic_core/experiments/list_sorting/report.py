"""The report of a list-sorting study."""

from pathlib import Path

from heuristic_core.experiments.list_sorting.figures import build_sheets
from heuristic_core.experiments.list_sorting.figures.targets import TARGETS
from heuristic_core.experiments.list_sorting.slider import sliders
from heuristic_core.report.study import ReportData
from heuristic_core.study.page import Content, make_page

FINDINGS = Path(__file__).parent / "findings.yaml"
MAPS = "figure_circuits"  # also shown with sliders over training


def _build_content(data: ReportData) -> Content:
    maps = sliders(data.root / "figures" / f"{MAPS}.csv") if MAPS in data.targets else []
    return Content({"conditions": list(data.settings["conditions"]), "sliders": maps})


sorting_page = make_page(
    "heuristic_core.experiments.list_sorting", "sorting.html.j2", TARGETS, build_sheets, _build_content, FINDINGS
)
