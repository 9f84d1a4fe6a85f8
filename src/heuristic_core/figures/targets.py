"""Every figure and table of the workflow by name, and what each is drawn from. Imports nothing heavy: the DAG reads it."""

from dataclasses import dataclass
from typing import NamedTuple


class Target(NamedTuple):
    """One figure or table: the Parquet tables it reads (by schema name) and one line that says what it shows."""

    tables: tuple[str, ...]
    title: str


@dataclass(frozen=True)
class Context:
    """What figures and findings need to know of the study beside their tables.

    mid, high: the two sparsities of the spread. last: the last kept step. seeds: pruning seeds of the spread.
    curve_seeds: pruning seeds of the accuracy-against-sparsity curve and of effective size. margin: points.
    subsets: those that enter group means, None for all.
    """

    mid: float
    high: float
    last: int
    seeds: tuple[int, ...]
    curve_seeds: tuple[int, ...]
    margin: float
    subsets: tuple[str, ...] | None = None


TARGETS = {
    "figure02": Target(("accuracy",), "Subnetworks agree in-domain and disagree out-of-domain"),
    "figure03": Target(("accuracy",), "Each subnetwork has its own out-of-domain profile"),
    "figure04": Target(("accuracy",), "Accuracy against sparsity"),
    "figure05": Target(("core",), "Heads by the number of subnetworks that keep them"),
    "figure06": Target(("effective_size", "finetune_accuracy"), "Effective size over fine-tuning"),
    "figure09": Target(("attention", "core"), "Where the core heads attend"),
    "figure10": Target(("finetune_accuracy",), "The full model's accuracy over fine-tuning"),
    "figure13": Target(
        ("head_frequency", "rank_correlation"), "How often each head is kept, at both sparsities"
    ),
    "table3": Target(("ablations",), "Ablating core heads from the full model"),
}
