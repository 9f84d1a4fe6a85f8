"""Every figure and table of the workflow by name, and what each is drawn from.

Imports nothing heavy: the DAG reads it.
"""

from typing import NamedTuple


class Target(NamedTuple):
    """One figure or table: the Parquet tables it reads (by schema name) and one line that says what it shows."""

    tables: tuple[str, ...]
    title: str


TARGETS = {
    "figure02": Target(("accuracy",), "Subnetworks agree in-domain and disagree out-of-domain"),
    "figure03": Target(("accuracy",), "Each subnetwork has its own out-of-domain profile"),
    "figure04": Target(("accuracy",), "Accuracy against sparsity"),
    "figure05": Target(("core",), "Heads by the number of subnetworks that keep them"),
    "figure06": Target(("effective_size", "finetune_accuracy"), "Effective size over fine-tuning"),
    "figure09": Target(("attention", "core"), "Where the core heads attend"),
    "figure10": Target(("finetune_accuracy",), "The full model's accuracy over fine-tuning"),
    "figure13": Target(("head_frequency", "rank_correlation"), "How often each head is kept, at both sparsities"),
    "table3": Target(("ablations",), "Ablating core heads from the full model"),
}


def shown(path: str) -> bool:
    """Whether a report shows this file of a target: one of its formats."""
    return path.endswith(".png") or ("/tables/" in path and path.endswith(".csv"))


def outputs(root: str, name: str) -> list[str]:
    """The files of a target: a figure in three formats with the values behind its marks, or a table in two."""
    if name.startswith("table"):
        return [f"{root}/tables/{name}.{suffix}" for suffix in ("csv", "md")]
    return [f"{root}/figures/{name}.{suffix}" for suffix in ("pdf", "svg", "png", "csv")]
