"""Table 5: subnetworks of the mid sparsity, subset by subset."""

from heuristic_core.config.figure import Figure
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.experiments.subnetworks.figures.condensed import join_full_model, sheets
from heuristic_core.experiments.subnetworks.figures.rows import map_subset_groups, resolve_subsets, select_full_model
from heuristic_core.figures.drawing import Drawing, Tables

__all__ = ["draw", "sheets"]


def draw(tables: Tables, settings: Figure, context: Context) -> Drawing:
    """Return no figure, and marks with one row per row of the table.

    Args:
        tables: Data frames by schema name: "accuracy" and "summary".
        settings: The target's ``config.figure.Figure``.
        context: The study's ``config.context.Context``.
    """
    full = select_full_model(tables["accuracy"], context.last)
    order = list(map_subset_groups(full, resolve_subsets(settings, context)))
    return None, join_full_model(full, tables, "subset", order, context, [context.mid])
