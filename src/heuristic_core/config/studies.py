"""A configuration that names several studies, which one run makes."""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationError

from heuristic_core.config.blocks import Block
from heuristic_core.config.study import ConfigError, parse_study, read_values


class Studies(Block):
    """Nothing but the names of files, each the configuration of one study."""

    studies: Annotated[list[str], Field(min_length=1)]


def parse_studies(values: dict, origin: str | Path) -> dict[str, dict]:
    """The checked settings of every study that `values` names, by the prefix of its rules: its name, and an underscore.

    origin: the file of `values`; the names are relative to its folder. Raises ConfigError, also on two studies whose
    results or rules would have the same name.
    """
    shown = os.path.relpath(origin)
    try:
        files = Studies.model_validate(values).studies
    except ValidationError as error:
        lines = [f"  {'.'.join(map(str, e['loc']))} = {e['input']!r}: {e['msg']}" for e in error.errors()]
        raise ConfigError(
            f"{shown}: `studies` must be a list of configuration files, and the only key:\n" + "\n".join(lines)
        ) from None
    found: dict[str, dict] = {}
    for file in files:
        path = os.path.relpath(Path(origin).parent / file)
        settings = read_values(path)
        prefix = re.sub(r"\W", "_", parse_study(settings, path).study) + "_"
        if prefix in found:
            raise ConfigError(f"{shown}: studies: {file} has the name of one before it; give it a `study` of its own")
        found[prefix] = settings
    return found


def read_layers(paths: Sequence[str | Path]) -> dict:
    """Several configuration files as one: later files override earlier files, block by block, as Snakemake does it."""
    values: dict = {}
    for path in paths:
        values = _over(values, read_values(path))
    return values


def _over(below: dict, above: dict) -> dict:
    both = {key for key in above if isinstance(above[key], dict) and isinstance(below.get(key), dict)}
    return below | above | {key: _over(below[key], above[key]) for key in both}
