"""The experiment "list-sorting" as shared parts of the workflow know it: see module `registry`.

Snakemake imports it at every start, so what is heavy is imported where it is used.
"""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from heuristic_core.config.reference import Words
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
    "drawing",
    "lacking",
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
    """What a run of `study` needs. device: nothing is known of others than a processor's core."""
    from heuristic_core.experiments.list_sorting.plan import report

    return report(study, wanted, missing)


def drawing(script: str, settings: Mapping) -> list[Path]:
    """The module that a job draws a figure or table with."""
    return [Path(__file__).with_name("figures") / f"{settings['name']}.py"] if script == "sorting_figure" else []


def reference() -> Words:
    """What the page of its settings says beside the settings themselves."""
    from heuristic_core.experiments.list_sorting.reference import REFERENCE

    return REFERENCE


def warnings(root: str) -> list[str]:
    """None: no part of a study fails without a row that says so."""
    return []
