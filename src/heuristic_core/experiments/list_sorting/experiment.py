"""The experiment "list-sorting"."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from heuristic_core.config.reference import ReferencePage
from heuristic_core.experiments.list_sorting.figures.targets import TARGETS
from heuristic_core.experiments.list_sorting.layout import Layout
from heuristic_core.experiments.list_sorting.sides import USAGE, parse_sides
from heuristic_core.experiments.list_sorting.study import SortingStudy, parse_sorting
from heuristic_core.experiments.list_sorting.tables import TABLES
from heuristic_core.report.sides import Comparison
from heuristic_core.study.experiment import Experiment

SETTING_KEYS = {"sorting": ""}  # the blocks of a condition

REFERENCE_HEAD = """# Settings of list sorting

This page is written by `make docs` from the pydantic models of the experiment and of the library. Do not edit it.
What a file of a study is, what *none* and `required` mean and how files override each other is in the
[configuration reference](configuration.md).
[List sorting](list-sorting.md) has the measures that the settings are of.
"""


class ListSorting(Experiment):
    """Structure development in list-sorting transformers (arXiv 2501.18666)."""

    folder = Path(__file__).parent
    tables, targets, layout = TABLES, TARGETS, Layout
    paper = "arXiv:2501.18666"
    script_prefix = "sorting_"
    commands = ("compare",)
    comparison = Comparison("sorting_compare", USAGE, parse_sides)
    setting_keys = SETTING_KEYS

    def parse(self, values: dict, origin: str = "configuration") -> SortingStudy:
        """Check a configuration.

        Args:
            values: The configuration.
            origin: Its file, for messages.

        Raises:
            ConfigError: If it is invalid; the message has one line per error.
        """
        return parse_sorting(values, origin)

    def plan(self, study: SortingStudy, device: str | None, all_jobs: Counter, missing_jobs: Counter) -> str:
        """Return the plan of a run as text.

        Args:
            study: The study.
            device: Ignored, as all jobs run on CPU cores.
            all_jobs: All jobs of the run, by rule.
            missing_jobs: Jobs without an up-to-date result, by rule.
        """
        from heuristic_core.experiments.list_sorting.plan import format_plan

        return format_plan(study, all_jobs, missing_jobs)

    def describe(self, study: SortingStudy) -> tuple[str, str]:
        """Return what a run of the study did and what came out, for its archive."""
        conditions = f"list-sorting transformers under {', '.join(study.conditions)}"
        return (
            f"{conditions}: trained, measured, analysed and drawn",
            f"Measures of {conditions}: configuration, tables, figures and provenance",
        )

    def list_wildcards(self, study: SortingStudy) -> dict[str, Sequence]:
        """Return the values of the wildcards in the patterns of tables' parts, by their names."""
        return {
            "condition": list(study.conditions),
            "pruned_condition": study.pruned_conditions,
            "sampled_checkpoint": [
                f"{name}/llc-step{step}" for name in study.conditions for step in study.sampled_steps(name)
            ],
        }

    def make_reference(self) -> ReferencePage:
        """Return the texts of the settings page that the settings lack."""
        return ReferencePage("configuration-list-sorting.md", REFERENCE_HEAD, SortingStudy)


EXPERIMENT = ListSorting()
