"""Figures and tables of the list-sorting experiment: their tables, and the studies that can have them.

Imports no heavy module, because the DAG reads it.
"""

from collections.abc import Collection
from typing import NamedTuple


class Target(NamedTuple):
    """One figure or table. Module `figures.<name>` draws it.

    Attributes:
        tables: Parquet tables that it reads, by schema name.
        title: One line that describes it.
        optional_tables: Tables that it reads if the study has them.
        conditions: Least number of conditions of the study.
    """

    tables: tuple[str, ...]
    title: str
    optional_tables: tuple[str, ...] = ()
    conditions: int = 1


MODELS = ("sorting_models", "sorting_heads")
TARGETS = {
    "figure_development": Target(
        (*MODELS, "sorting_stages"),
        "Loss, modes of heads and local learning coefficients over training, with stages",
        optional_tables=("sorting_llc",),
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
        optional_tables=("sorting_llc",),
    ),
    "table_conditions": Target((*MODELS, "sorting_conditions"), "Every condition at the end of training"),
}


def missing_requirement(name: str, tables: Collection[str], conditions: int) -> str | None:
    """Return why a study cannot have target `name`, or None if it can.

    Args:
        name: Name of the target.
        tables: Tables of the study.
        conditions: Number of its conditions.
    """
    target = TARGETS[name]
    if missing := [table for table in target.tables if table not in tables]:
        return f"{name} is drawn from {', '.join(missing)}, which this study does not have"
    if conditions < target.conditions:
        return f"{name} needs at least {target.conditions} conditions, this study has {conditions}; add to `conditions`"
    return None
