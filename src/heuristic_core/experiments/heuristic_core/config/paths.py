"""Where every result of a study is, as path patterns whose wildcards the workflow fills in.

``<results>/<study>/<model>/<task>/ft{ft_seed}/step{step}/s{sparsity}/seed{seed}/...`` for what descends from one
fine-tuning run; tables, figures and logs are beside the model's folder.
"""

from dataclasses import dataclass

from heuristic_core.experiments.heuristic_core.config.study import Study


@dataclass(frozen=True)
class Layout:
    """Path patterns of a study. `root`: everything. `runs`: one model on one task."""

    root: str
    runs: str

    @classmethod
    def of(cls, study: Study) -> "Layout":
        return cls(study.root, f"{study.root}/{study.model.name}/{study.task.name}")

    @property
    def data(self) -> str:
        return f"{self.runs}/data"

    @property
    def run(self) -> str:
        return f"{self.runs}/ft{{ft_seed}}"

    @property
    def step(self) -> str:
        return f"{self.run}/step{{step}}"

    @property
    def lesion(self) -> str:
        """A fine-tuning run without some heads."""
        return f"{self.run}/lesion-{{lesion}}"

    @property
    def cell(self) -> str:
        return f"{self.step}/s{{sparsity}}/seed{{seed}}"

    @property
    def again(self) -> str:
        """A cell's second run."""
        return f"{self.cell}/repeat1"

    @property
    def core(self) -> str:
        """The heads that a run's subnetworks share."""
        return f"{self.run}/core.parquet"

    @property
    def closed(self) -> str:
        """A pruning run with heads closed."""
        return f"{self.run}/mechanism/closed/set{{set}}/seed{{seed}}"

    def mechanism(self, name: str) -> str:
        """A table of what depends on the core, of one fine-tuning run."""
        return f"{self.run}/mechanism/{name}.parquet"

    def table(self, name: str) -> str:
        return f"{self.root}/tables/{name}.parquet"

    def log(self, job: str) -> str:
        return f"{self.root}/logs/{job}.log"
