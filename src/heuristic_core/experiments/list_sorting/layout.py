"""Where every result of a list-sorting study is, as path patterns whose wildcards the workflow fills in.

``<results>/<study>/<condition>/step{step}.safetensors``; what `study.OTHERS` names is beside the conditions' folders.
"""

from dataclasses import dataclass

from heuristic_core.experiments.list_sorting.study import SortingStudy


@dataclass(frozen=True)
class Layout:
    """Path patterns of a study. `root`: everything."""

    root: str

    @classmethod
    def of(cls, study: SortingStudy) -> "Layout":
        return cls(study.root)

    @property
    def condition(self) -> str:
        return f"{self.root}/{{condition}}"

    @property
    def checkpoint(self) -> str:
        """The weights of all seeds of a condition at one step."""
        return f"{self.condition}/step{{step}}.safetensors"

    def part(self, name: str) -> str:
        """A table of one condition."""
        return f"{self.condition}/{name}.parquet"

    def table(self, name: str) -> str:
        return f"{self.root}/tables/{name}.parquet"

    def log(self, job: str) -> str:
        return f"{self.root}/logs/{job}.log"
