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
# Experiments that import the tables of a study -> their instance in :mod:`.subnetworks.imported`.
IMPORTED = {"published": "PUBLISHED_RESULTS", "archive": "ARCHIVE"}
# Keys of Snakemake's --config that ask for them -> (their name, the target with all results).
IMPORT_KEYS = {"published": ("published", "published"), "crate": ("archive", "redraw")}


def resolve_folder(values: Mapping, origin: str | Path = "configuration") -> str:
    """Return the name of a configuration's experiment in workflow/rules; of three, also their folder in this package.

    Args:
        values: The configuration.
        origin: Where it is from, for the message.

    Raises:
        ConfigError: If the experiment is unknown.
    """
    name = values.get("experiment", DEFAULT_EXPERIMENT)
    if not isinstance(name, str) or name not in {*EXPERIMENT_FOLDERS, *IMPORTED}:
        raise ConfigError(f"{origin}: experiment = {name!r} is unknown; choose from {', '.join(EXPERIMENT_FOLDERS)}")
    return EXPERIMENT_FOLDERS.get(name, name)


def load_experiment(values: Mapping, origin: str | Path = "configuration") -> Experiment:
    """Return the experiment of a configuration.

    Args:
        values: The configuration.
        origin: Its file, for messages.

    Raises:
        ConfigError: If the experiment is unknown.
    """
    folder = resolve_folder(values, origin)
    if folder in IMPORTED:
        return getattr(importlib.import_module("heuristic_core.experiments.subnetworks.imported"), IMPORTED[folder])
    return importlib.import_module(f"heuristic_core.experiments.{folder}.experiment").EXPERIMENT


def load_experiments() -> list[Experiment]:
    """Return the experiments that configurations name."""
    return [load_experiment({"experiment": name}) for name in EXPERIMENT_FOLDERS]
