"""The report of a study."""

from heuristic_core.experiments.made.figures import build_sheets
from heuristic_core.experiments.made.figures.targets import TARGETS

from heuristic_core.study.page import Content, make_page

made_page = make_page(
    "heuristic_core.experiments.made",
    "made.html.j2",
    TARGETS,
    build_sheets,
    lambda data: Content({"largest": data.settings["largest"]}),
)
