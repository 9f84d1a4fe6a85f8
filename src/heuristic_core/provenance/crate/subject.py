"""What an experiment says of the archive of a study."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple


class Subject(NamedTuple):
    """What an archive is of. run: what its run did. results: what came out. paper: whose study it is, as CITATION.cff
    identifies it, such as "arXiv:2403.03942".

    about: one line on a result of the experiment, by its path in the archive; None for others.
    """

    run: str
    results: str
    paper: str
    about: Callable[[Path], str | None]


def about_target(path: Path, titles: Mapping[str, str]) -> str | None:
    """One line on a file of a figure or a table for reading; None for other files. titles: by target."""
    if path.stem not in titles:
        return None
    values = ": the values behind its marks" if path.parts[0] == "figures" and path.suffix == ".csv" else ""
    return f"{titles[path.stem]}{values}"
