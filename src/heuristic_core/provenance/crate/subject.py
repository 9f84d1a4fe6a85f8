"""What an experiment says of the archive of a study."""

from collections.abc import Callable
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
