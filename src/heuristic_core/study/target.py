"""Figures and printed tables of an experiment.

Snakemake imports this module at every start, so it imports nothing heavy.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Target:
    """A figure or printed table, which module ``figures.<name>`` of its experiment draws.

    Attributes:
        tables: Tables that it reads, by schema name.
        title: One line that says what it shows.
        possibly_empty: Those of `tables` that may have no rows.
        optional_tables: Further tables that it reads if the study has them.
        drawn_by: The target whose module draws it; None for its own.
    """

    tables: tuple[str, ...]
    title: str
    possibly_empty: tuple[str, ...] = ()
    optional_tables: tuple[str, ...] = ()
    drawn_by: str | None = None

    def find_missing(self, name: str, study: Any, tables: Collection[str]) -> str | None:
        """Return why a study cannot have this target, or None if it can.

        Args:
            name: Name of the target, for the message.
            study: The study; subclasses may require more of it than tables.
            tables: Names of the tables that the study has.
        """
        missing = [table for table in self.tables if table not in tables]
        return f"{name} is drawn from {', '.join(missing)}, which this study does not have" if missing else None
