"""Results of a study of any experiment as one object."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from heuristic_core.common.errors import InputError
from heuristic_core.report.settings import read_study

if TYPE_CHECKING:
    import pandas as pd

FOLDER_HINT = "give the folder of a study's results, such as results/miniature, or of an unpacked archive"


@dataclass(frozen=True)
class Results:
    """Results in a folder. Tables are read on access.

    Attributes:
        folder: Folder of the study.
        settings: Checked configuration; empty if imported results have none.
    """

    folder: Path
    settings: dict = field(repr=False)

    @property
    def tables(self) -> list[str]:
        """Names of the tables in the folder."""
        root = self.folder / "tables"
        return sorted(path.relative_to(root).with_suffix("").as_posix() for path in root.rglob("*.parquet"))

    def table(self, name: str) -> pd.DataFrame:
        """Read a table; integers are pandas' nullable Int32.

        Raises:
            InputError: If the folder lacks the table.
        """
        from heuristic_core.tables.parquet import read_table

        return read_table(self._path(name))

    def columns(self, name: str) -> pd.DataFrame:
        """Return type and meaning, with the unit, of each column of a table. Tables for reading have no meanings.

        Raises:
            InputError: If the folder lacks the table.
        """
        import pandas as pd
        import pyarrow.parquet as pq

        fields = list(pq.read_schema(self._path(name)))
        meanings = [(field.metadata or {}).get(b"description") for field in fields]
        return pd.DataFrame(
            {"type": [str(field.type) for field in fields], "meaning": [text and text.decode() for text in meanings]},
            index=pd.Index([field.name for field in fields], name="column"),
        )

    def _path(self, name: str) -> Path:
        """Return the path of a table; InputError if it is missing."""
        if name not in self.tables:
            raise InputError(f"{self.folder} has no table {name!r}; it has {', '.join(self.tables) or 'none'}")
        return self.folder / "tables" / f"{name}.parquet"


def open_results(folder: str | Path) -> Results:
    """Open the results in a folder.

    Raises:
        InputError: If it is not the folder of a study.
    """
    folder = Path(folder)
    if folder.is_file():
        raise InputError(f"{folder} is a file; unpack it if it is an archive, and {FOLDER_HINT}")
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; {FOLDER_HINT}")
    path = folder / "study.json"
    if not path.is_file():
        studies = ", ".join(sorted(str(path.parent) for path in folder.glob("*/study.json")))
        raise InputError(
            f"{folder} has no study.json; " + (f"choose from the studies in it: {studies}" if studies else FOLDER_HINT)
        )
    return Results(folder, read_study(path)["settings"] or {})
