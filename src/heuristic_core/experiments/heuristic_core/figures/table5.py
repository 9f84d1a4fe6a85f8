"""Table 5: subnetworks of the mid sparsity, subset by subset."""

from heuristic_core.experiments.heuristic_core.figures.condensed import join_full_model, sheets
from heuristic_core.experiments.heuristic_core.figures.rows import full_model, shown, subset_groups

__all__ = ["draw", "sheets"]


def draw(tables, settings, context):
    """Return no figure, and marks with one row per row of the table."""
    full = full_model(tables["accuracy"], context.last)
    order = list(subset_groups(full, shown(settings, context)))
    return None, join_full_model(full, tables, "subset", order, context, [context.mid])
