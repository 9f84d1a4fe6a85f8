"""Registry of experiments."""

import importlib
from collections.abc import Mapping
from pathlib import Path

from heuristic_core.config.reading import ConfigError
from heuristic_core.study.experiment import Experiment

# Name in configurations -> folder in this package and in workflow/rules.
EXPERIMENT_FOLDERS = {
    "heuristic-core": "subnetworks",
    "list-sorting": "list_sorting",
    "extractive-structures": "extractive_structures",
}
DEFAULT_EXPERIMENT = "heuristic-core"  # if a configuration lacks the key `experiment`


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
    """Return the experiment of a configuration.

    Raises:
        ConfigError: If the experiment is unknown.
    """
    return importlib.import_module(f"heuristic_core.experiments.{resolve_folder(values, origin)}.experiment").EXPERIMENT


def load_experiments() -> list[Experiment]:
    """Return all experiments."""
    return [load_experiment({"experiment": name}) for name in EXPERIMENT_FOLDERS]
