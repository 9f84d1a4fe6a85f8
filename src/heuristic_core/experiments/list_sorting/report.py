"""The report of a list-sorting study."""

from collections.abc import Sequence
from pathlib import Path

from heuristic_core.experiments.list_sorting.figures import build_sheets
from heuristic_core.experiments.list_sorting.figures.targets import TARGETS
from heuristic_core.experiments.list_sorting.slider import sliders
from heuristic_core.study.page import make_page

FINDINGS = Path(__file__).parent / "findings.yaml"
MAPS = "figure_circuits"  # also shown with sliders over training


def _make_variables(root: Path, settings: dict, targets: Sequence[str]) -> dict:
    maps = sliders(root / "figures" / f"{MAPS}.csv") if MAPS in targets else []
    return {"conditions": list(settings["conditions"]), "sliders": maps}


sorting_page = make_page(
    "heuristic_core.experiments.list_sorting", "sorting.html.j2", TARGETS, build_sheets, _make_variables, FINDINGS
)
