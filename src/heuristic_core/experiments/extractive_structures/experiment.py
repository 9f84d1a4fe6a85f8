"""The experiment "extractive-structures"."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from heuristic_core.config.reference import ReferencePage
from heuristic_core.experiments.extractive_structures.config import ExtractiveStudy, parse_extractive
from heuristic_core.experiments.extractive_structures.figures.targets import TARGETS
from heuristic_core.experiments.extractive_structures.layout import Layout
from heuristic_core.experiments.extractive_structures.tables import TABLES
from heuristic_core.plan.needs import Need
from heuristic_core.study.experiment import Experiment

REFERENCE_HEAD = """# Settings of extractive structures

This page is written by `make docs` from the pydantic models of the experiment and of the library. Do not edit it.
What a file of a study is, what *none* and `required` mean and how files override each other is in the
[configuration reference](configuration.md).
[Extractive structures](extractive-structures.md) has the measures that the settings are of.
"""


class ExtractiveStructures(Experiment):
    """Extractive structures learned in pre-training (arXiv 2412.04614)."""

    folder = Path(__file__).parent
    tables, targets, layout = TABLES, TARGETS, Layout
    paper = "arXiv:2412.04614"
    script_prefix = "extractive_"

    def parse(self, values: dict, origin: str = "configuration") -> ExtractiveStudy:
        """Check a configuration.

        Args:
            values: The configuration.
            origin: Its file, for messages.

        Raises:
            ConfigError: If it is invalid; the message has one line per error.
        """
        return parse_extractive(values, origin)

    def plan(self, study: ExtractiveStudy, device: str | None, all_jobs: Counter, missing_jobs: Counter) -> str:
        """Return the plan of a run as text.

        Args:
            study: The study.
            device: Device for a model that was pre-trained elsewhere; the embedded model runs on one core.
            all_jobs: All jobs of the run, by rule.
            missing_jobs: Jobs without an up-to-date result, by rule.
        """
        from heuristic_core.experiments.extractive_structures.plan import format_plan

        return format_plan(study, all_jobs, missing_jobs, device)

    def estimate_needs(self, study: ExtractiveStudy) -> dict[str, Need]:
        """Return what one job of each rule requests from a cluster, for rules that need more than a small table."""
        from heuristic_core.experiments.extractive_structures import needs

        return needs.estimate_needs(study)

    def describe(self, study: ExtractiveStudy) -> tuple[str, str]:
        """Return what a run of the study did and what came out, for its archive."""
        models = f"{len(study.seeds)} small language models that were taught facts"
        return (
            f"{models}: pre-trained, taught, measured and drawn",
            f"Extractive structures of {models}: configuration, tables, figures and provenance",
        )

    def list_wildcards(self, study: ExtractiveStudy) -> dict[str, Sequence]:
        """Return the values of the wildcards in the patterns of tables' parts, by their names."""
        return {"seed": study.seeds, "corpus": study.corpora}

    def make_reference(self) -> ReferencePage:
        """Return the texts of the settings page that the settings lack."""
        return ReferencePage("configuration-extractive-structures.md", REFERENCE_HEAD, ExtractiveStudy)


EXPERIMENT = ExtractiveStructures()
