"""The experiments, one line each, and what shared parts of the workflow ask of every experiment."""

import importlib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from heuristic_core.config.reading import ConfigError
from heuristic_core.provenance.crate.subject import Subject
from heuristic_core.report.sides import Comparison

# Name in configurations -> folder, of this package and of workflow/rules.
FOLDERS = {
    "heuristic-core": "heuristic_core",
    "list-sorting": "list_sorting",
    "extractive-structures": "extractive_structures",
}
DEFAULT = "heuristic-core"  # of a configuration without the key `experiment`


class Study(Protocol):
    """A checked configuration. root: folder of its results."""

    study: str
    results: str
    arithmetic: str

    @property
    def root(self) -> str: ...


class Experiment(Protocol):
    """Module `experiment` of an experiment's folder. CLAIMS: the file of its claims. COMMANDS: keys of Snakemake's
    --config that name what to do beside the study, and are no part of it. COMPARISON: how its studies are compared; of
    an experiment whose rules include `compare.smk`.

    A module may have more. `KEYS`: settings that jobs have by another name than the configuration -> the key there; ""
    where the rest of the name is the key. `sweep`: a figure over several studies, see :func:`.studies.sweep_of`; its
    rule is in `sweep.smk` of the experiment's rules. `lacking`: from a study to the figures and tables that it cannot
    have, by name with the reason. `opened`: what :func:`.opening.open_study` makes of the `Results` of a study that has
    more than settings and tables. `reference`: the words of the page of its settings.
    """

    CLAIMS: Path
    COMMANDS: tuple[str, ...]
    COMPARISON: Comparison

    def parse(self, values: dict, origin: str = "configuration") -> Study:
        """Check a configuration. Raises ConfigError with one line per fault."""

    def plan(self, study: Study, device: str | None, wanted: Counter, missing: Counter) -> str:
        """What a run needs, as text. wanted: all its jobs, by rule; missing: those without an up-to-date result."""

    def members(self, study: Study) -> list[str]:
        """What goes into the study's archive: paths below its folder."""

    def subject(self, study: Study) -> Subject:
        """What the archive says of the study."""

    def drawing(self, script: str, settings: Mapping[str, Any]) -> Sequence[Path]:
        """The modules that a job of `script` loads by name; none where its script names them."""

    def warnings(self, root: str) -> list[str]:
        """For the terminal at the end of a run, what went wrong in the study whose results are in the folder `root`."""


def folder_of(values: Mapping, origin: str | Path = "configuration") -> str:
    """The folder of the experiment that a configuration is of. Raises ConfigError where there is no such experiment."""
    name = values.get("experiment", DEFAULT)
    if not isinstance(name, str) or name not in FOLDERS:
        raise ConfigError(f"{origin}: experiment = {name!r}: there is none; give one of {', '.join(FOLDERS)}")
    return FOLDERS[name]


def experiment_of(values: Mapping, origin: str | Path = "configuration") -> Experiment:
    """The experiment that a configuration is of. Raises ConfigError where there is no such experiment."""
    return importlib.import_module(f"heuristic_core.experiments.{folder_of(values, origin)}.experiment")


def experiments() -> list[Experiment]:
    """All of them."""
    return [experiment_of({"experiment": name}) for name in FOLDERS]
