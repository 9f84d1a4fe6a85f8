"""Table 7: subnetworks of both sparsities, group by group."""

from heuristic_core.config.figure import Figure
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.experiments.subnetworks.figures.condensed import join_full_model, sheets
from heuristic_core.experiments.subnetworks.figures.rows import SUMMARY_GROUPS, reject_subsets, select_full_model
from heuristic_core.figures.drawing import Drawing, Tables

__all__ = ["draw", "sheets"]


def draw(tables: Tables, settings: Figure, context: Context) -> Drawing:
    """Return no figure, and marks with one row per row of the table.

    Args:
        tables: Data frames by schema name: "group_accuracy" and "summary".
        settings: The target's ``config.figure.Figure``.
        context: The study's ``config.context.Context``.

    Raises:
        ValueError: If the settings choose subsets.
    """
    reject_subsets(settings)
    full = select_full_model(tables["group_accuracy"], context.last)
    return None, join_full_model(full, tables, "group", SUMMARY_GROUPS, context, [context.mid, context.high])
