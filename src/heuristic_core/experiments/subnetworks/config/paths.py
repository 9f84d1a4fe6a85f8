"""Path patterns of all results of a study, with Snakemake wildcards.

``<results>/<study>/<model>/<task>/ft{ft_seed}/step{step}/s{sparsity}/seed{seed}/...`` for results of
one fine-tuning run; tables, figures and logs are next to the model's folder.
"""

from dataclasses import dataclass

from heuristic_core.experiments.subnetworks.config.study import Study
from heuristic_core.study.layout import Layout as BaseLayout


@dataclass(frozen=True)
class Layout(BaseLayout):
    """Path patterns of a study.

    Attributes:
        runs: Folder of one model on one task.
    """

    runs: str

    @classmethod
    def from_study(cls, study: Study) -> "Layout":
        """Return the layout of a study."""
        return cls(study.root, f"{study.root}/{study.model.name}/{study.task.name}")

    @property
    def parts(self) -> str:
        """Folder below which the parts of tables are."""
        return self.runs

    @property
    def data(self) -> str:
        """Folder of sentences and encoded pairs."""
        return f"{self.runs}/data"

    @property
    def run(self) -> str:
        """Folder of a fine-tuning run."""
        return f"{self.runs}/ft{{ft_seed}}"

    @property
    def step(self) -> str:
        """Folder of a checkpoint."""
        return f"{self.run}/step{{step}}"

    @property
    def lesion(self) -> str:
        """Folder of a lesioned fine-tuning run."""
        return f"{self.run}/lesion-{{lesion}}"

    @property
    def cell(self) -> str:
        """Folder of a pruning run."""
        return f"{self.step}/s{{sparsity}}/seed{{seed}}"

    @property
    def repeated_cell(self) -> str:
        """Folder of a repeated pruning run."""
        return f"{self.cell}/repeat1"

    @property
    def core(self) -> str:
        """Table of the heads that a run's subnetworks share."""
        return f"{self.run}/core.parquet"

    @property
    def closed_run(self) -> str:
        """Folder of a pruning run with heads closed."""
        return f"{self.run}/mechanism/closed/set{{set}}/seed{{seed}}"

    def mechanism(self, name: str) -> str:
        """Return the path of a table of the block `mechanism`, of one fine-tuning run."""
        return f"{self.run}/mechanism/{name}.parquet"
