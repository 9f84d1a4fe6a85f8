"""The studies of a configuration: one, or several that one run makes."""

import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import Field, ValidationError

from heuristic_core.config.blocks import Block, Name
from heuristic_core.config.reading import ConfigError, read_layers
from heuristic_core.experiments.registry import DEFAULT, Experiment, Study, experiment_of

Layers = Annotated[list[str], Field(min_length=1)]


class Replicates(Block):
    """A table of how many training seeds each claim holds on, over all studies of a file."""

    name: Name = Field(description="of the target, table_<name>, and of the folder of its files, <results>/<name>")
    results: str = Field("results", pattern=r"^[\w./-]+$", description="folder of all results")

    @property
    def target(self) -> str:
        return f"table_{self.name}"

    @property
    def root(self) -> str:
        return f"{self.results}/{self.name}"


class Studies(Block):
    """The files of several studies, and what is made of them together: a figure, which their experiment checks, or a
    table of the claims that hold on studies which differ in their pre-trained model alone.

    Of a list of files later ones override earlier ones.
    """

    studies: Annotated[list[str | Layers], Field(min_length=1)]
    sweep: dict[str, Any] | None = None
    replicates: Replicates | None = None


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


def replicates_of(values: dict, studies: Mapping[str, Configured], origin: str | Path) -> Replicates | None:
    """The table over `studies`, those of `values`; None where none is asked for.

    Raises ConfigError, also where the studies are of different experiments, whose claims differ.
    """
    asked = _read(values, origin).replicates
    if asked and len({entry.experiment for entry in studies.values()}) > 1:
        names = ", ".join(dict.fromkeys(entry.settings.get("experiment", DEFAULT) for entry in studies.values()))
        raise ConfigError(f"{os.path.relpath(origin)}: replicates: studies of {names} have no claims in common")
    if asked:
        _are_replicates([entry.study for entry in studies.values()], asked, os.path.relpath(origin))
    return asked


def _are_replicates(studies: Sequence[Study], asked: Replicates, origin: str) -> None:
    """Raises ConfigError unless studies differ in their model and in their fine-tuning seeds alone."""
    settings = [study.model_dump(mode="json") for study in studies]
    models = []
    for values in settings:
        model = json.dumps(values.pop("model", None))
        models += [(model, seed) for seed in values.get("finetune", {}).pop("seeds", [])]
    for study, values in zip(studies, settings, strict=True):
        if study.root == asked.root:
            raise ConfigError(f"{origin}: replicates.name = {asked.name!r} is the name of a study; give another one")
        differing = [key for key in values if values[key] != settings[0][key] and key not in ("study", "results")]
        if differing:
            raise ConfigError(
                f"{origin}: replicates: study {study.study} has another `{differing[0]}` than {studies[0].study}; "
                "studies may differ in `model` and `finetune.seeds` alone"
            )
    if twice := [seed for k, (model, seed) in enumerate(models) if (model, seed) in models[:k]]:
        raise ConfigError(f"{origin}: replicates: two studies have fine-tuning seed {twice[0]} of one model")


def _configured(values: dict, origin: str | Path) -> Configured:
    experiment = experiment_of(values, origin)
    return Configured(experiment, values, experiment.parse(values, str(origin)))


def _read(values: dict, origin: str | Path) -> Studies:
    try:
        return Studies.model_validate(values)
    except ValidationError as error:
        lines = [f"  {'.'.join(map(str, e['loc']))} = {e['input']!r}: {e['msg']}" for e in error.errors()]
        raise ConfigError(
            f"{os.path.relpath(origin)}: `studies` must be a list of configuration files, and `sweep` and "
            "`replicates` the only other keys:\n" + "\n".join(lines)
        ) from None
