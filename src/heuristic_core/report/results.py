"""The results of a study as one object, whichever experiment it is of."""

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
    """What is in a folder of results, read when it is asked for.

    settings: the checked configuration; what imported results have instead, which may be nothing.
    """

    folder: Path
    settings: dict = field(repr=False)

    @property
    def tables(self) -> list[str]:
        """Names of the tables that are there."""
        root = self.folder / "tables"
        return sorted(path.relative_to(root).with_suffix("").as_posix() for path in root.rglob("*.parquet"))

    def table(self, name: str) -> pd.DataFrame:
        """A table; integers that may be missing are pandas' nullable Int32. Raises InputError where it is not there."""
        from heuristic_core.tables.parquet import read_table

        return read_table(self._path(name))

    def columns(self, name: str) -> pd.DataFrame:
        """By column of a table: its type, and its meaning with the unit, None in tables for reading.

        Raises InputError where the table is not there.
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
        if name not in self.tables:
            raise InputError(f"{self.folder} has no table {name!r}; it has {', '.join(self.tables) or 'none'}")
        return self.folder / "tables" / f"{name}.parquet"


def open_results(folder: str | Path) -> Results:
    """The results in `folder`. Raises InputError where it is no folder of a study."""
    folder = Path(folder)
    if folder.is_file():
        raise InputError(f"{folder} is a file; unpack it if it is an archive, and {FOLDER_HINT}")
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; {FOLDER_HINT}")
    path = folder / "study.json"
    if not path.is_file():
        inside = ", ".join(sorted(str(path.parent) for path in folder.glob("*/study.json")))
        raise InputError(
            f"{folder} has no study.json; " + (f"it holds the studies {inside}" if inside else FOLDER_HINT)
        )
    return Results(folder, read_study(path)["settings"] or {})
