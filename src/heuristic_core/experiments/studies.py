"""Read the studies of a configuration: one study, or several that are run together."""

import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import Field, ValidationError

from heuristic_core.config.blocks import Block, Name
from heuristic_core.config.reading import ConfigError, read_merged_configs
from heuristic_core.experiments.registry import DEFAULT_EXPERIMENT, IMPORT_KEYS, load_experiment
from heuristic_core.study.experiment import Experiment, Study

Layers = Annotated[list[str], Field(min_length=1)]


class ClaimsTable(Block):
    """A table of claims over all studies of a file."""

    name: Name = Field(description="name of the table's target, table_<name>, and of its folder, <results>/<name>")
    results: str = Field("results", pattern=r"^[\w./-]+$", description="folder of all results")

    @property
    def target(self) -> str:
        """Name of the table's target."""
        return f"table_{self.name}"

    @property
    def root(self) -> str:
        """Folder of the table's files."""
        return f"{self.results}/{self.name}"


class Studies(Block):
    """The files of several studies, with a figure or a table over all of them.

    The experiment checks the figure (`sweep`). There are two kinds of tables: `replicates` counts claims that hold in
    studies that differ only in their pre-trained model and fine-tuning seeds, and `verdicts` compares the verdicts of
    any studies with the same claims. In a list of files, later files override earlier ones.
    """

    studies: Annotated[list[str | Layers], Field(min_length=1)]
    sweep: dict[str, Any] | None = None
    replicates: ClaimsTable | None = None
    verdicts: ClaimsTable | None = None

    @property
    def tables(self) -> dict[str, ClaimsTable]:
        """The configured tables by kind."""
        tables = {"replicates": self.replicates, "verdicts": self.verdicts}
        return {kind: table for kind, table in tables.items() if table}


class ConfiguredStudy(NamedTuple):
    """A study and its experiment.

    Attributes:
        experiment: The experiment.
        settings: The configuration before it was checked.
        study: The checked configuration.
    """

    experiment: Experiment
    settings: dict
    study: Study


def read_studies(values: dict, origin: str | Path) -> dict[str, ConfiguredStudy]:
    """Return the checked studies of a configuration by the prefix of their rules.

    A configuration of a single study has the prefix "".

    Args:
        values: The configuration.
        origin: Its file.

    Raises:
        ConfigError: If a configuration is invalid.
    """
    return parse_studies(values, origin) if "studies" in values else {"": _parse_study(values, origin)}


def parse_studies(values: dict, origin: str | Path) -> dict[str, ConfiguredStudy]:
    """Return the studies that a configuration lists or imports, by the prefix of their rules.

    Args:
        values: The configuration, with key `studies` or a key of `IMPORT_KEYS`.
        origin: Its file; names of studies' files are relative to its folder.

    Raises:
        ConfigError: If a configuration is invalid, or if two studies have the same name.
        InputError: If an imported file is invalid.
    """
    if IMPORT_KEYS.keys() & values.keys():
        return _parse_imports(values, origin)
    studies: dict[str, ConfiguredStudy] = {}
    for files in _read(values, origin).studies:
        paths = [os.path.relpath(Path(origin).parent / file) for file in ([files] if isinstance(files, str) else files)]
        entry = _parse_study(read_merged_configs(paths), paths[-1])
        prefix = re.sub(r"\W", "_", entry.study.study) + "_"
        if prefix in studies:
            raise ConfigError(
                f"{os.path.relpath(origin)}: studies: {files if isinstance(files, str) else files[-1]} has the same "
                "study name as an earlier file; set another `study`"
            )
        studies[prefix] = entry
    return studies


def parse_sweep(values: dict, studies: Mapping[str, ConfiguredStudy], origin: str | Path) -> Any:
    """Return the figure over several studies, checked by their experiment, or None if none is configured.

    Args:
        values: The configuration.
        studies: Its studies, see :func:`parse_studies`.
        origin: Its file.

    Raises:
        ConfigError: If the figure is invalid, or if the studies do not share an experiment that can draw it.
    """
    if values.get("sweep") is None:
        return None
    experiment, *others = dict.fromkeys(entry.experiment for entry in studies.values())
    if others or experiment.sweep is None:
        names = ", ".join(
            dict.fromkeys(entry.settings.get("experiment", DEFAULT_EXPERIMENT) for entry in studies.values())
        )
        raise ConfigError(f"{os.path.relpath(origin)}: sweep: no figure over studies of {names} exists; remove `sweep`")
    return experiment.sweep(values["sweep"], [entry.study for entry in studies.values()], origin)


def parse_tables(values: dict, studies: Mapping[str, ConfiguredStudy], origin: str | Path) -> dict[str, ClaimsTable]:
    """Return the tables over several studies by kind, "replicates" or "verdicts".

    Args:
        values: The configuration.
        studies: Its studies, see :func:`parse_studies`.
        origin: Its file.

    Raises:
        ConfigError: If a table is invalid, if experiments differ, or if studies of `replicates` differ in more than
            their model and fine-tuning seeds.
    """
    if not any(values.get(kind) for kind in ("replicates", "verdicts")):
        return {}
    tables, file = _read(values, origin).tables, os.path.relpath(origin)
    names = dict.fromkeys(entry.settings.get("experiment", DEFAULT_EXPERIMENT) for entry in studies.values())
    for kind, table in tables.items():
        if len(names) > 1:
            raise ConfigError(f"{file}: {kind}: studies of {', '.join(names)} have no claims in common")
        roots = [other.root for other in tables.values()] + [entry.study.root for entry in studies.values()]
        if roots.count(table.root) > 1:
            raise ConfigError(f"{file}: {kind}.name = {table.name!r} is the name of a study or table; choose another")
    if "replicates" in tables:
        _check_replicates([entry.study for entry in studies.values()], file)
    return tables


def _check_replicates(studies: Sequence[Study], origin: str) -> None:
    """Raise ConfigError unless studies differ only in their model and fine-tuning seeds."""
    settings = [study.model_dump(mode="json") for study in studies]
    model_seeds = []
    for values in settings:
        model = json.dumps(values.pop("model", None))
        model_seeds += [(model, seed) for seed in values.get("finetune", {}).pop("seeds", [])]
    for study, values in zip(studies, settings, strict=True):
        differing = [key for key in values if values[key] != settings[0][key] and key not in ("study", "results")]
        if differing:
            raise ConfigError(
                f"{origin}: replicates: studies {study.study} and {studies[0].study} have different "
                f"`{differing[0]}`; they may differ only in `model` and `finetune.seeds`"
            )
    if repeated := [seed for k, (model, seed) in enumerate(model_seeds) if (model, seed) in model_seeds[:k]]:
        raise ConfigError(f"{origin}: replicates: two studies have fine-tuning seed {repeated[0]} of the same model")


def _parse_imports(values: dict, origin: str | Path) -> dict[str, ConfiguredStudy]:
    """Return the imported studies of a configuration, which names one folder or archive beside a study."""
    keys = [key for key in IMPORT_KEYS if key in values]
    if len(keys) > 1 or "studies" in values:
        raise ConfigError(f"{' and '.join(keys)}: import one at a time, with a configuration of one study")
    name, _ = IMPORT_KEYS[keys[0]]
    base = _parse_study({key: value for key, value in values.items() if key not in (*keys, "published_groups")}, origin)
    listed = load_experiment({"experiment": name}).list_studies(values, base.study)
    return {prefix: _parse_study(settings, origin) for prefix, settings in listed.items()}


def _parse_study(values: dict, origin: str | Path) -> ConfiguredStudy:
    experiment = load_experiment(values, origin)
    return ConfiguredStudy(experiment, values, experiment.parse(values, str(origin)))


def _read(values: dict, origin: str | Path) -> Studies:
    try:
        return Studies.model_validate(values)
    except ValidationError as error:
        lines = [f"  {'.'.join(map(str, e['loc']))} = {e['input']!r}: {e['msg']}" for e in error.errors()]
        raise ConfigError(
            f"{os.path.relpath(origin)}: `studies` must be a list of configuration files, and `sweep`, "
            "`replicates` and `verdicts` the only other keys:\n" + "\n".join(lines)
        ) from None
