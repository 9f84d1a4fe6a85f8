"""Path patterns of every result of a list-sorting study, with wildcards that the workflow fills in.

``<results>/<study>/<condition>/step{step}.safetensors``; the paths in `study.OTHERS` are beside the conditions'
folders.
"""

from dataclasses import dataclass

from heuristic_core.experiments.list_sorting.study import SortingStudy


@dataclass(frozen=True)
class Layout:
    """Path patterns of a study.

    Attributes:
        root: Folder of all results.
    """

    root: str

    @classmethod
    def from_study(cls, study: SortingStudy) -> "Layout":
        """Return the layout of a study."""
        return cls(study.root)

    @property
    def condition(self) -> str:
        """Folder of a condition."""
        return f"{self.root}/{{condition}}"

    @property
    def checkpoint(self) -> str:
        """Weights of all seeds of a condition at one step."""
        return f"{self.condition}/step{{step}}.safetensors"

    def part(self, name: str) -> str:
        """Return the path of a table of one condition."""
        return f"{self.condition}/{name}.parquet"

    def table(self, name: str) -> str:
        """Return the path of a table of the study."""
        return f"{self.root}/tables/{name}.parquet"

    def log(self, job: str) -> str:
        """Return the path of a job's log."""
        return f"{self.root}/logs/{job}.log"
