"""The experiment "made"."""

from pathlib import Path
from typing import Literal

from heuristic_core.experiments.made.figures.targets import TARGETS
from heuristic_core.experiments.made.tables import TABLES

from heuristic_core.config.blocks import Block, Name
from heuristic_core.config.figure import AllFigures
from heuristic_core.config.reading import validate
from heuristic_core.study.experiment import Experiment


class Study(Block):
    """A study of squares."""

    experiment: Literal["made"]
    study: Name
    results: str = "results"
    arithmetic: Literal["portable", "native"] = "portable"
    largest: int
    figures: AllFigures = AllFigures()

    @property
    def root(self) -> str:
        """Folder of the study's results."""
        return f"{self.results}/{self.study}"


class Made(Experiment):
    """Squares of integers."""

    folder = Path(__file__).parent
    tables, targets = TABLES, TARGETS
    paper = "arXiv:2501.18666"
    script_prefix = "made_"

    def parse(self, values, origin="configuration"):
        """Check a configuration. Raises ConfigError with one line per error."""
        return validate(Study, values, origin)

    def plan(self, study, device, all_jobs, missing_jobs):
        """Return the plan of a run as text."""
        return f"{study.study}: {missing_jobs.total()} of {all_jobs.total()} jobs to do"

    def describe(self, study):
        """Return what a run of the study did and what came out."""
        return "numbers squared", "Squares"


EXPERIMENT = Made()
