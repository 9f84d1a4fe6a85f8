"""Figures and tables of the list-sorting experiment: their tables, and the studies that can have them.

Imports no heavy module, because the DAG reads it.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from heuristic_core.study.target import Target as BaseTarget


@dataclass(frozen=True)
class Target(BaseTarget):
    """A figure or printed table of list sorting.

    Attributes:
        conditions: Least number of conditions of the study.
    """

    conditions: int = 1

    def find_missing(self, name: str, study: Any, tables: Collection[str]) -> str | None:
        """Return why a study cannot have this target, or None if it can.

        Args:
            name: Name of the target, for the message.
            study: The study.
            tables: Names of the tables that the study has.
        """
        if reason := super().find_missing(name, study, tables):
            return reason
        if (count := len(study.conditions)) < self.conditions:
            return f"{name} needs at least {self.conditions} conditions, this study has {count}; add to `conditions`"
        return None


TARGETS = {
    "figure_development": Target(
        ("sorting_models", "sorting_stages"),
        "Loss, modes of heads and local learning coefficients over training, with stages",
        optional_tables=("sorting_llc",),
    ),
    "figure_effects": Target(
        ("sorting_numbers", "sorting_heads"), "Effects of heads on every number, first and last seed"
    ),
    "figure_circuits": Target(("sorting_matrices",), "QK and OV matrices of every head over training"),
    "figure_modes": Target(
        ("sorting_models", "sorting_conditions"), "Modes of heads against the mean gap between neighbours", conditions=2
    ),
    "figure_ablation": Target(
        ("sorting_ablations", "sorting_mode_ablations", "sorting_heads"), "Cost of ablating heads and their modes"
    ),
    "figure_attention": Target(("sorting_distance", "sorting_heads"), "Attention by distance in value"),
    "figure_pruning": Target(
        ("sorting_sizes", "sorting_core"),
        "Effective size in halves of heads, local learning coefficients and halves kept, over training",
        optional_tables=("sorting_llc",),
    ),
    "table_conditions": Target(("sorting_models", "sorting_conditions"), "Every condition at the end of training"),
}
