"""The experiment "list-sorting" for the shared parts of the workflow: see module `registry`.

Snakemake imports this module at every start, so heavy modules are imported where they are used.
"""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from heuristic_core.config.reference import ReferencePage
from heuristic_core.experiments.list_sorting.results import lacking, members, subject
from heuristic_core.experiments.list_sorting.sides import USAGE, parse_sides
from heuristic_core.experiments.list_sorting.study import SortingStudy
from heuristic_core.experiments.list_sorting.study import parse_sorting as parse
from heuristic_core.report.sides import Comparison

__all__ = [
    "CLAIMS",
    "COMMANDS",
    "COMPARISON",
    "KEYS",
    "lacking",
    "list_drawing_modules",
    "members",
    "parse",
    "plan",
    "reference",
    "subject",
    "warnings",
]
COMMANDS = ("compare",)
COMPARISON = Comparison("sorting_compare", USAGE, parse_sides)
KEYS = {"sorting": ""}  # the blocks of a condition
CLAIMS = Path(__file__).with_name("claims.yaml")


def plan(study: SortingStudy, device: str | None, wanted: Counter, missing: Counter) -> str:
    """Return the plan of a run of `study` as text; `device` is ignored, as all jobs run on CPU cores."""
    from heuristic_core.experiments.list_sorting.plan import format_plan

    return format_plan(study, wanted, missing)


def list_drawing_modules(script: str, settings: Mapping) -> list[Path]:
    """Return the module that draws the figure or table of a job."""
    return [Path(__file__).with_name("figures") / f"{settings['name']}.py"] if script == "sorting_figure" else []


def reference() -> ReferencePage:
    """Return the texts of the page about the settings."""
    from heuristic_core.experiments.list_sorting.reference import REFERENCE

    return REFERENCE


def warnings(root: str) -> list[str]:
    """Return no warnings: every failed part of a study has a row with its reason."""
    return []
