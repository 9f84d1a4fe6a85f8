"""The report of a study of extractive structures."""

from pathlib import Path

from heuristic_core.experiments.extractive_structures.figures import build_sheets
from heuristic_core.experiments.extractive_structures.figures.targets import TARGETS
from heuristic_core.study.page import Content, make_page

extractive_page = make_page(
    "heuristic_core.experiments.extractive_structures",
    "extractive.html.j2",
    TARGETS,
    build_sheets,
    lambda data: Content({"seeds": len(data.settings["seeds"]), "cities": data.settings["data"]["cities"]}),
    Path(__file__).parent / "findings.yaml",
)
