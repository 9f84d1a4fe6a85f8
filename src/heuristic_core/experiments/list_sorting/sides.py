"""The two studies of a comparison: their folders and tables."""

from pathlib import Path
from typing import NamedTuple

from heuristic_core.common.errors import InputError
from heuristic_core.report.settings import read_study
from heuristic_core.report.sides import check_study_folder, existing_files, parse_two_studies

USAGE = 'compare="results/a results/b": two folders of finished studies of list sorting'
TABLES = ("sorting_models", "sorting_heads", "claims")


class Side(NamedTuple):
    """A study of a comparison.

    Attributes:
        root: Folder of the study.
    """

    root: Path

    @property
    def name(self) -> str:
        """Name of the study."""
        return self.root.name

    def table(self, name: str) -> Path:
        """Return the path of a table."""
        return self.root / "tables" / f"{name}.parquet"

    @property
    def inputs(self) -> list[Path]:
        """Every file that a comparison reads."""
        return [*existing_files(self.root, TABLES), *sorted((self.root / "figures").glob("*"))]


def parse_sides(text: str) -> tuple[Side, Side]:
    """Parse two studies, such as "results/a results/b".

    Raises:
        InputError: The text does not name two finished studies of list sorting.
    """
    a, b = (_side(word) for word in parse_two_studies(text, USAGE))
    if a == b:
        raise InputError(f"compare = {text!r}: both studies are the same; choose two different ones")
    return a, b


def _side(path: str) -> Side:
    root = check_study_folder(path, USAGE)
    if (result := read_study(root / "study.json")["settings"].get("experiment")) != "list-sorting":
        raise InputError(f"compare: {root} is a study of {result or 'heuristic-core'}; give {USAGE}")
    if absent := [name for name in TABLES if not Side(root).table(name).is_file()]:
        raise InputError(f"compare: {root}/tables has no {absent[0]}; finish the run of this study first")
    return Side(root)
