"""Variance between pruning seeds, and between two runs of one seed."""

import pandas as pd

from heuristic_core.config.figure import Figure
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.experiments.subnetworks.figures.collapsed import add_collapsed_counts, format_count
from heuristic_core.experiments.subnetworks.figures.roles import group_label
from heuristic_core.experiments.subnetworks.figures.rows import (
    SUMMARY_GROUPS,
    ft_seeds,
    map_subset_groups,
    require_rows,
    resolve_subsets,
)
from heuristic_core.figures.drawing import Drawing, Tables
from heuristic_core.figures.sheets import Sheet
from heuristic_core.figures.text import format_number, format_percent, format_seed

COLUMNS = ["ft_seed", "step", "sparsity", "subset", "group"]
VALUES = ["between_sd", "seeds", "collapsed", "within_sd", "repeated", "same_masks"]
HEADINGS = ["sparsity", "sd between seeds", "seeds", "sd within a seed", "repeated seeds", "of these, same masks"]


def draw(tables: Tables, settings: Figure, context: Context) -> Drawing:
    """Return no figure, and marks with one row per row of the table; `subset` is null for the mean of a group.

    Args:
        tables: Data frames by schema name: "variance", and "runs" if the study has it.
        settings: The target's ``config.figure.Figure``.
        context: The study's ``config.context.Context``.
    """
    rows = tables["variance"]
    rows = require_rows(rows[rows["step"] == context.last], f"rows of step {context.last} in table variance")
    rows = add_collapsed_counts(rows, tables, context.seeds)
    order = {subset: k for k, subset in enumerate(map_subset_groups(rows, resolve_subsets(settings, context)))}
    rows = rows[rows["subset"].isna() | rows["subset"].isin(list(order))]
    rows = rows.assign(
        place=rows["subset"].map(order).fillna(len(order))
        + rows["group"].map(SUMMARY_GROUPS.index) / len(SUMMARY_GROUPS)
    )
    return None, rows.sort_values(["ft_seed", "place", "sparsity"], ignore_index=True)[COLUMNS + VALUES]


def sheets(marks: pd.DataFrame) -> list[Sheet]:
    """Return a table for each fine-tuning seed."""
    sheet_list = []
    for ft_seed in ft_seeds(marks):
        rows = [_cells(row) for row in marks[marks["ft_seed"] == ft_seed].itertuples()]
        title = f"{format_seed(ft_seed).capitalize()}: accuracy, standard deviations in points"
        sheet_list.append(Sheet(title, ["subset", *HEADINGS], rows))
    return sheet_list


def _cells(row) -> list[str]:
    """Return the cells of one row."""
    name = group_label(row.group) if pd.isna(row.subset) else row.subset
    same_masks = "unknown" if row.repeated and pd.isna(row.same_masks) else format_number(row.same_masks, 0)
    between, within = (
        [format_number(row.between_sd, 2), format_count(row.seeds, row.collapsed)],
        [format_number(row.within_sd, 2), f"{row.repeated}", same_masks],
    )
    return [name, format_percent(row.sparsity), *between, *within]
