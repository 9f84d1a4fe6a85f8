"""Descriptions that an experiment gives for the archive of a study."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple


class Subject(NamedTuple):
    """Descriptions for the archive of a study.

    Attributes:
        run: Description of its run.
        results: Description of its results.
        paper: Identifier of the paper in CITATION.cff, such as "arXiv:2403.03942".
        describe: Path in the archive -> one line on this result of the experiment; None for others.
    """

    run: str
    results: str
    paper: str
    describe: Callable[[Path], str | None]


def describe_target(path: Path, titles: Mapping[str, str]) -> str | None:
    """Describe a file of a figure or of a table for reading in one line; None for other files.

    Args:
        path: Path of the file in the archive.
        titles: Target, such as figure05 -> its title.
    """
    if path.stem not in titles:
        return None
    values = ": the values behind its marks" if path.parts[0] == "figures" and path.suffix == ".csv" else ""
    return f"{titles[path.stem]}{values}"
