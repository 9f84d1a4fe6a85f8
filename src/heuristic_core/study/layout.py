"""Paths of a study's results."""

from dataclasses import dataclass
from typing import Any, Self


@dataclass(frozen=True)
class Layout:
    """Paths of a study's results.

    An experiment extends it with the patterns of its own results, whose wildcards the workflow fills in.

    Attributes:
        root: Folder of all results.
    """

    root: str

    @classmethod
    def from_study(cls, study: Any) -> Self:
        """Return the layout of a study."""
        return cls(study.root)

    @property
    def parts(self) -> str:
        """Folder below which the parts of tables are."""
        return self.root

    @property
    def description(self) -> str:
        """The study's checked settings."""
        return f"{self.root}/study.json"

    @property
    def report(self) -> str:
        """The report."""
        return f"{self.root}/report.html"

    def table(self, name: str) -> str:
        """Return the path of a table of the whole study."""
        return f"{self.root}/tables/{name}.parquet"

    def log(self, job: str) -> str:
        """Return the path of a job's log."""
        return f"{self.root}/logs/{job}.log"
