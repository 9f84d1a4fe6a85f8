"""Configuration of a figure across the studies of one file, against settings in which they differ."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from pydantic import Field

from heuristic_core.config.blocks import Block, Name
from heuristic_core.config.figure import Figure
from heuristic_core.config.reading import ConfigError, validate
from heuristic_core.experiments.subnetworks.config.study import Study

Key = Annotated[str, Field(pattern=r"^\w+(\.\w+)+$")]


class Sweep(Block):
    """Figure of the cost of ablating the core, against settings of the studies."""

    name: Name = Field(description="name of the figure's target, figure_<name>, and of its folder, <results>/<name>")
    results: str = Field("results", pattern=r"^[\w./-]+$", description="folder of all results")
    axes: dict[str, Key] = Field(
        min_length=1,
        description="axis label -> key of a number in the studies' configuration, such as "
        "task.artefacts.foreign_premises; its panel shows the first study and those that differ from it only there",
    )
    figure: Figure = Figure()


class _SweepFile(Block):
    """A file of studies with the block `sweep`."""

    sweep: Sweep


@dataclass(frozen=True)
class SweptStudies:
    """A checked sweep.

    Attributes:
        sweep: The block.
        arithmetic: Arithmetic of the job that draws it.
        values: Name of a study -> label of an axis -> value.
    """

    sweep: Sweep
    arithmetic: str
    values: dict[str, dict[str, float]] = field(default_factory=dict)

    @property
    def target(self) -> str:
        """Name of the target."""
        return f"figure_{self.sweep.name}"

    @property
    def root(self) -> str:
        """Folder of its files."""
        return f"{self.sweep.results}/{self.sweep.name}"

    @property
    def figure_settings(self) -> dict:
        """Settings of the figure, as JSON-compatible values."""
        return {"target": self.target, "figure": self.sweep.figure.model_dump(), "studies": self.values}


def parse_sweep(values: dict, studies: Sequence[Study], origin: str | Path) -> SweptStudies:
    """Check the block `sweep` of a file of studies.

    Args:
        values: The block.
        studies: Studies of the file.
        origin: The file.

    Returns:
        The sweep, with the value of each study on each axis.

    Raises:
        ConfigError: If the block is invalid, or a key is not a number in every study.
    """
    origin = os.path.relpath(origin)
    sweep = validate(_SweepFile, {"sweep": values}, origin).sweep
    values_by_study = {study.study: _axis_values(study, sweep.axes, origin) for study in studies}
    return SweptStudies(sweep, studies[0].arithmetic, values_by_study)


def _axis_values(study: Study, axes: dict[str, str], origin: str | Path) -> dict[str, float]:
    return {label: _get_number(study, key, origin) for label, key in axes.items()}


def _get_number(study: Study, key: str, origin: str | Path) -> float:
    value = study
    for part in key.split("."):
        value = getattr(value, part, None)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ConfigError(
            f"{origin}: sweep.axes: {key} = {value!r} in study {study.study}; name a setting that is a number in every "
            "study, such as task.artefacts.foreign_premises"
        )
    return float(value)
