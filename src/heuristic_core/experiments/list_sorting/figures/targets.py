"""Figures and tables of the list-sorting experiment: what each is drawn from, and which studies can have it.

Imports nothing heavy: the DAG reads it.
"""

from collections.abc import Collection
from typing import NamedTuple


class Target(NamedTuple):
    """One figure or table. Module `figures.<name>` draws it.

    tables: the Parquet tables it reads, by schema name. title: one line that says what it shows. also: tables that it
    reads where a study has them. conditions: how many the study must have at least.
    """

    tables: tuple[str, ...]
    title: str
    also: tuple[str, ...] = ()
    conditions: int = 1


MODELS = ("sorting_models", "sorting_heads")
TARGETS = {
    "figure_development": Target(
        (*MODELS, "sorting_stages"),
        "Loss, modes of heads and local learning coefficients over training, with stages",
        also=("sorting_llc",),
    ),
    "figure_circuits": Target(("sorting_matrices",), "QK and OV matrices of every head over training"),
    "figure_modes": Target(
        (*MODELS, "sorting_conditions"), "Modes of heads against the mean gap between neighbours", conditions=2
    ),
    "figure_ablation": Target(
        ("sorting_ablations", "sorting_mode_ablations", "sorting_heads"), "What ablating heads and their modes costs"
    ),
    "figure_suppression": Target(
        ("sorting_ablations", "sorting_heads"), "What removing a head does, by how much the head suppresses"
    ),
    "figure_attention": Target(("sorting_distance", "sorting_heads"), "Attention by distance in value"),
    "figure_pruning": Target(
        ("sorting_sizes", "sorting_core"),
        "Effective size in halves of heads, local learning coefficients, and what pruning keeps, over training",
        also=("sorting_llc",),
    ),
    "table_conditions": Target((*MODELS, "sorting_conditions"), "Every condition at the end of training"),
}


def unmet(name: str, tables: Collection[str], conditions: int) -> str | None:
    """Why a study with these tables and this number of conditions cannot have target `name`; None if it can."""
    target = TARGETS[name]
    if absent := [table for table in target.tables if table not in tables]:
        return f"{name} is drawn from {', '.join(absent)}, which this study does not have"
    if conditions < target.conditions:
        return f"{name} needs at least {target.conditions} conditions, this study has {conditions}; add to `conditions`"
    return None
