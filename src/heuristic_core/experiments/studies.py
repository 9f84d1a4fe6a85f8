"""The studies of a configuration: one, or several that one run makes."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import Field, ValidationError

from heuristic_core.config.blocks import Block
from heuristic_core.config.reading import ConfigError, read_layers
from heuristic_core.experiments.registry import DEFAULT, Experiment, Study, experiment_of

Layers = Annotated[list[str], Field(min_length=1)]


class Studies(Block):
    """The files of several studies, and a figure over them, which their experiment checks.

    Of a list of files later ones override earlier ones.
    """

    studies: Annotated[list[str | Layers], Field(min_length=1)]
    sweep: dict[str, Any] | None = None


class Configured(NamedTuple):
    """settings: of the study, as they were given. study: the same, checked."""

    experiment: Experiment
    settings: dict
    study: Study


def configured(values: dict, origin: str | Path) -> dict[str, Configured]:
    """The checked studies of a configuration by the prefix of their rules: its own, without a prefix, or several.

    origin: the file of `values`. Raises ConfigError.
    """
    return parse_studies(values, origin) if "studies" in values else {"": _configured(values, origin)}


def parse_studies(values: dict, origin: str | Path) -> dict[str, Configured]:
    """Every study that `values` names, by the prefix of its rules: its name, and an underscore.

    origin: the file of `values`; the names are relative to its folder. Raises ConfigError, also on two studies whose
    results or rules would have the same name.
    """
    found: dict[str, Configured] = {}
    for files in _read(values, origin).studies:
        paths = [os.path.relpath(Path(origin).parent / file) for file in ([files] if isinstance(files, str) else files)]
        one = _configured(read_layers(paths), paths[-1])
        prefix = re.sub(r"\W", "_", one.study.study) + "_"
        if prefix in found:
            raise ConfigError(
                f"{os.path.relpath(origin)}: studies: {files if isinstance(files, str) else files[-1]} has the name of "
                "one before it; give it a `study` of its own"
            )
        found[prefix] = one
    return found


def sweep_of(values: dict, studies: Mapping[str, Configured], origin: str | Path):
    """The figure over `studies`, those of `values`, as their experiment has checked it; None where none is asked for.

    Raises ConfigError, also where the studies have no experiment in common that draws one.
    """
    if values.get("sweep") is None:
        return None
    experiment, *others = dict.fromkeys(one.experiment for one in studies.values())
    if others or not hasattr(experiment, "sweep"):
        names = ", ".join(dict.fromkeys(one.settings.get("experiment", DEFAULT) for one in studies.values()))
        raise ConfigError(f"{os.path.relpath(origin)}: sweep: no figure is over studies of {names}; remove `sweep`")
    return experiment.sweep(values["sweep"], [one.study for one in studies.values()], origin)


def _configured(values: dict, origin: str | Path) -> Configured:
    experiment = experiment_of(values, origin)
    return Configured(experiment, values, experiment.parse(values, str(origin)))


def _read(values: dict, origin: str | Path) -> Studies:
    try:
        return Studies.model_validate(values)
    except ValidationError as error:
        lines = [f"  {'.'.join(map(str, e['loc']))} = {e['input']!r}: {e['msg']}" for e in error.errors()]
        raise ConfigError(
            f"{os.path.relpath(origin)}: `studies` must be a list of configuration files, and `sweep` the only other "
            "key:\n" + "\n".join(lines)
        ) from None
