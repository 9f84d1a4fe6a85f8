"""A configuration that names several studies, which one run makes."""

import os
import re
from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationError

from heuristic_core.config.blocks import Block
from heuristic_core.config.reading import ConfigError, read_layers
from heuristic_core.experiments.heuristic_core.config.study import parse_study
from heuristic_core.experiments.heuristic_core.config.sweep import Sweep, SweptStudies, swept

Layers = Annotated[list[str], Field(min_length=1)]


class Studies(Block):
    """The files of several studies, and a figure over them. Of a list of files later ones override earlier ones."""

    studies: Annotated[list[str | Layers], Field(min_length=1)]
    sweep: Sweep | None = None


def parse_studies(values: dict, origin: str | Path) -> dict[str, dict]:
    """The checked settings of every study that `values` names, by the prefix of its rules: its name, and an underscore.

    origin: the file of `values`; the names are relative to its folder. Raises ConfigError, also on two studies whose
    results or rules would have the same name.
    """
    found: dict[str, dict] = {}
    for files in _read(values, origin).studies:
        paths = [os.path.relpath(Path(origin).parent / file) for file in ([files] if isinstance(files, str) else files)]
        settings = read_layers(paths)
        prefix = re.sub(r"\W", "_", parse_study(settings, paths[-1]).study) + "_"
        if prefix in found:
            raise ConfigError(
                f"{os.path.relpath(origin)}: studies: {files if isinstance(files, str) else files[-1]} has the name of "
                "one before it; give it a `study` of its own"
            )
        found[prefix] = settings
    return found


def sweep_of(values: dict, studies: dict[str, dict], origin: str | Path) -> SweptStudies | None:
    """The figure over `studies`, as :func:`parse_studies` gave them, if `values` asks for one. Raises ConfigError."""
    sweep = _read(values, origin).sweep
    return sweep and swept(sweep, [*studies.values()], os.path.relpath(origin))


def _read(values: dict, origin: str | Path) -> Studies:
    try:
        return Studies.model_validate(values)
    except ValidationError as error:
        lines = [f"  {'.'.join(map(str, e['loc']))} = {e['input']!r}: {e['msg']}" for e in error.errors()]
        raise ConfigError(
            f"{os.path.relpath(origin)}: `studies` must be a list of configuration files, and `sweep` the only other "
            "key:\n" + "\n".join(lines)
        ) from None
