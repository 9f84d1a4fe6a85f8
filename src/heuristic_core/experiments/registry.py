"""Registry of experiments, and the protocol that shared parts of the workflow use."""

import importlib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from heuristic_core.config.reading import ConfigError
from heuristic_core.provenance.crate.subject import Subject
from heuristic_core.report.sides import Comparison

# Name in configurations -> folder in this package and in workflow/rules.
EXPERIMENT_FOLDERS = {
    "heuristic-core": "subnetworks",
    "list-sorting": "list_sorting",
    "extractive-structures": "extractive_structures",
}
DEFAULT_EXPERIMENT = "heuristic-core"  # if a configuration lacks the key `experiment`


class Study(Protocol):
    """A checked configuration.

    Attributes:
        study: Name of the study.
        results: Folder of all results.
        arithmetic: "portable" or "native".
    """

    study: str
    results: str
    arithmetic: str

    @property
    def root(self) -> str:
        """Folder of the study's results."""


class Experiment(Protocol):
    """The module `experiment` of an experiment's folder.

    A module can define further names. `KEYS` maps names of job settings that differ from the configuration's to keys
    there; "" if the rest of the name is the key. `sweep` checks a figure over several studies, see
    :func:`.studies.sweep_of`; its rule is in `sweep.smk` of the experiment's rules. `lacking` maps a study to the
    figures and tables that it cannot have, with reasons. `open_results` converts the `Results` of a study for
    :func:`.opening.open_study`. `reference` returns the texts of the settings page.

    Attributes:
        CLAIMS: File of claims.
        COMMANDS: Keys of Snakemake's --config that are commands rather than settings of a study.
        COMPARISON: How studies are compared; required if the experiment's rules include `compare.smk`.
    """

    CLAIMS: Path
    COMMANDS: tuple[str, ...]
    COMPARISON: Comparison

    def parse(self, values: dict, origin: str = "configuration") -> Study:
        """Check a configuration. Raises ConfigError with one line per error."""

    def plan(self, study: Study, device: str | None, wanted: Counter, missing: Counter) -> str:
        """Return the plan of a run as text.

        Args:
            study: The study.
            device: The device for which times are estimated; default: the study's.
            wanted: All jobs of the run, by rule.
            missing: Jobs without an up-to-date result, by rule.
        """

    def members(self, study: Study) -> list[str]:
        """Return the members of the study's archive: paths below its folder."""

    def subject(self, study: Study) -> Subject:
        """Return the description of the study for its archive."""

    def list_drawing_modules(self, script: str, settings: Mapping[str, Any]) -> Sequence[Path]:
        """Return the modules that a job of `script` loads by name rather than by an import."""

    def warnings(self, root: str) -> list[str]:
        """Return the warnings about the study with results in `root`, for the end of a run."""


def resolve_folder(values: Mapping, origin: str | Path = "configuration") -> str:
    """Return the folder of a configuration's experiment.

    Args:
        values: The configuration.
        origin: Where it is from, for the message.

    Raises:
        ConfigError: If the experiment is unknown.
    """
    name = values.get("experiment", DEFAULT_EXPERIMENT)
    if not isinstance(name, str) or name not in EXPERIMENT_FOLDERS:
        raise ConfigError(f"{origin}: experiment = {name!r} is unknown; choose from {', '.join(EXPERIMENT_FOLDERS)}")
    return EXPERIMENT_FOLDERS[name]


def load_experiment(values: Mapping, origin: str | Path = "configuration") -> Experiment:
    """Return a configuration's experiment. Raises ConfigError if it is unknown."""
    return importlib.import_module(f"heuristic_core.experiments.{resolve_folder(values, origin)}.experiment")


def load_experiments() -> list[Experiment]:
    """Return all experiments."""
    return [load_experiment({"experiment": name}) for name in EXPERIMENT_FOLDERS]
