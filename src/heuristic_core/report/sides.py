"""The folders of two studies that are compared, as a user names them."""

import re
import shlex
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from heuristic_core.common.errors import InputError
from heuristic_core.config.blocks import NAME


class Side(Protocol):
    """A study, or a part of it, that is compared. inputs: every file that a comparison reads."""

    name: str
    inputs: Sequence[Path]


class Comparison(NamedTuple):
    """How an experiment compares studies. script: that does it. usage: what to give; sides: from this to both sides.

    sides raises InputError where the text does not name two finished studies of the experiment.
    """

    script: str
    usage: str
    sides: Callable[[str], tuple[Side, Side]]


def two_studies(text: str, usage: str) -> list[str]:
    """The two words of "results/a results/b". Raises InputError where there are not two, which says `usage`."""
    try:
        words = shlex.split(text) if isinstance(text, str) else []
    except ValueError:  # a quotation that does not end
        words = []
    if len(words) != 2:
        raise InputError(f"compare = {text!r}: expected two studies; give {usage}")
    return words


def study_folder(path: str, usage: str) -> Path:
    """The folder of a finished study, from the working directory if it is below it. Raises InputError otherwise."""
    if "\0" in path or not Path(path).is_dir():
        raise InputError(f"compare: {path} is no folder; give {usage}")
    root = Path(path).resolve()
    if not re.fullmatch(NAME, root.name):  # it becomes part of a path, and of a command
        raise InputError(f"compare: {path!r}: a study's folder must have a name of letters, digits, `_`, `.` and `-`")
    root = root.relative_to(Path.cwd()) if root.is_relative_to(Path.cwd()) else Path(path)
    if not (root / "study.json").is_file():
        raise InputError(f"compare: {root} has no study.json, so no study has finished there; give {usage}")
    return root


def present(root: Path, tables: Iterable[str]) -> list[Path]:
    """study.json and those of `tables` that the study has."""
    paths = [root / "study.json", *(root / "tables" / f"{name}.parquet" for name in tables)]
    return [path for path in paths if path.is_file()]
