"""A figure over several studies of one file: what changes with settings in which the studies differ."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from pydantic import Field

from heuristic_core.config.blocks import Block, Name
from heuristic_core.config.figure import Figure
from heuristic_core.config.reading import ConfigError, checked
from heuristic_core.experiments.heuristic_core.config.study import Study

Key = Annotated[str, Field(pattern=r"^\w+(\.\w+)+$")]


class Sweep(Block):
    """What the core costs where it is ablated, against settings of the studies."""

    name: Name = Field(description="of the target, figure_<name>, and of the folder of its files, <results>/<name>")
    results: str = Field("results", pattern=r"^[\w./-]+$", description="folder of all results")
    axes: dict[str, Key] = Field(
        min_length=1,
        description="by label, a number of the studies' configuration, such as task.artefacts.foreign_premises; each "
        "has a panel with the first study and those that differ from it on this axis alone",
    )
    figure: Figure = Figure()


class _Swept(Block):
    sweep: Sweep


@dataclass(frozen=True)
class SweptStudies:
    """A checked sweep. values: by name of a study, its value on every axis."""

    sweep: Sweep
    arithmetic: str
    values: dict[str, dict[str, float]] = field(default_factory=dict)

    @property
    def target(self) -> str:
        return f"figure_{self.sweep.name}"

    @property
    def root(self) -> str:
        return f"{self.sweep.results}/{self.sweep.name}"

    @property
    def told(self) -> dict:
        """What the figure is drawn by, as JSON can hold it."""
        return {"target": self.target, "figure": self.sweep.figure.model_dump(), "studies": self.values}


def sweep_of(values: dict, studies: Sequence[Study], origin: str | Path) -> SweptStudies:
    """The figure over `studies` that block `sweep` of a file of studies asks for, `values`. origin: the file.

    Raises ConfigError, also on a key that is no number of a study.
    """
    origin = os.path.relpath(origin)
    sweep = checked(_Swept, {"sweep": values}, origin).sweep
    of_studies = {study.study: _values(study, sweep.axes, origin) for study in studies}
    return SweptStudies(sweep, studies[0].arithmetic, of_studies)


def _values(study: Study, axes: dict[str, str], origin: str | Path) -> dict[str, float]:
    return {label: _number(study, key, origin) for label, key in axes.items()}


def _number(study: Study, key: str, origin: str | Path) -> float:
    value = study
    for part in key.split("."):
        value = getattr(value, part, None)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ConfigError(
            f"{origin}: sweep.axes: {key} = {value!r} in study {study.study}; name a setting that is a number in every "
            "study, such as task.artefacts.foreign_premises"
        )
    return float(value)
