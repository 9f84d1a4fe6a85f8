"""Folders of two studies that a user asks to compare."""

import re
import shlex
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from heuristic_core.common.errors import InputError
from heuristic_core.config.blocks import NAME_PATTERN


class Side(Protocol):
    """A study, or a part of it, that is compared.

    Attributes:
        name: Name in the comparison.
        inputs: All files that the comparison reads.
    """

    name: str
    inputs: Sequence[Path]


class Comparison(NamedTuple):
    """How an experiment compares studies.

    Attributes:
        script: Name of the script.
        usage: Usage of the command, for error messages.
        sides: Function from the user's text to both sides; InputError if it does not name two finished studies.
    """

    script: str
    usage: str
    sides: Callable[[str], tuple[Side, Side]]


def parse_two_studies(text: str, usage: str) -> list[str]:
    """Split a text such as "results/a results/b" into two words.

    Args:
        text: Value of `compare` in the configuration.
        usage: Usage of the command, for error messages.

    Raises:
        InputError: If there are not two words.
    """
    try:
        words = shlex.split(text) if isinstance(text, str) else []
    except ValueError:  # a quotation mark without its counterpart
        words = []
    if len(words) != 2:
        raise InputError(f"compare = {text!r}: expected two studies; give {usage}")
    return words


def check_study_folder(path: str, usage: str) -> Path:
    """Return the folder of a finished study, relative to the working directory if it is inside.

    Args:
        path: Path given by the user.
        usage: Usage of the command, for error messages.

    Raises:
        InputError: If the folder is missing, has no finished study, or has special characters in its name.
    """
    if "\0" in path or not Path(path).is_dir():
        raise InputError(f"compare: {path} is not a folder; give {usage}")
    root = Path(path).resolve()
    if not re.fullmatch(NAME_PATTERN, root.name):  # the name becomes part of paths and commands
        raise InputError(f"compare: {path!r}: a study's folder must have a name of letters, digits, `_`, `.` and `-`")
    root = root.relative_to(Path.cwd()) if root.is_relative_to(Path.cwd()) else Path(path)
    if not (root / "study.json").is_file():
        raise InputError(f"compare: {root} has no study.json, so no study has finished there; give {usage}")
    return root


def existing_files(root: Path, tables: Iterable[str]) -> list[Path]:
    """Return the paths of study.json and of tables, as far as they exist.

    Args:
        root: The study's folder.
        tables: Names of tables.
    """
    paths = [root / "study.json", *(root / "tables" / f"{name}.parquet" for name in tables)]
    return [path for path in paths if path.is_file()]
