"""Heads that attend to the repeated word before fine-tuning, and how many subnetworks keep them afterwards."""

import pandas as pd

from heuristic_core.config.figure import Figure
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.experiments.subnetworks.figures.rows import ft_seeds, require_rows
from heuristic_core.figures.drawing import Drawing, Tables
from heuristic_core.figures.sheets import Sheet
from heuristic_core.figures.text import format_number, format_seed
from heuristic_core.tables.columns import COMPONENT, RUN

KEPT = ("mid", "high", "early")
COLUMNS = ["ft_seed", *COMPONENT, "share", "uniform", "times_uniform", "overlap"]
COLUMNS += [*KEPT, *(f"n_{cell}" for cell in KEPT), "in_core"]


def draw(tables: Tables, settings: Figure, context: Context) -> Drawing:
    """Join attention before fine-tuning with the number of subnetworks that keep each head.

    Args:
        tables: Data frames by schema name: "overlap_heads" and "core".
        settings: Not used; every target takes it.
        context: Not used; every target takes it.

    Returns:
        No figure, and the marks: one row per head, those that attend most to the repeated word first. `times_uniform`
        is `share` over `uniform`, null if no word is repeated.
    """
    before = require_rows(tables["overlap_heads"], "rows in table overlap_heads")
    marks = before.merge(tables["core"], on=[*RUN, *COMPONENT], validate="one_to_one")
    marks["times_uniform"] = marks["share"] / marks["uniform"].where(marks["uniform"] > 0)
    order = ["ft_seed", "times_uniform", "component"]
    return None, marks.sort_values(order, ascending=[True, False, True], kind="stable", ignore_index=True)[COLUMNS]


def sheets(marks: pd.DataFrame) -> list[Sheet]:
    """Return a table for each fine-tuning seed: heads that attend to the repeated word, and core heads."""
    return [_sheet(marks[marks["ft_seed"] == seed], format_seed(seed).capitalize()) for seed in ft_seeds(marks)]


def _sheet(heads: pd.DataFrame, title: str) -> Sheet:
    """Return the table of one fine-tuning seed."""
    cells = [cell for cell in KEPT if heads[f"n_{cell}"].notna().any()]
    headings = [f"{cell} (of {heads[f'n_{cell}'].max()})" for cell in cells]
    overlap, core = heads["overlap"].astype(bool), heads["in_core"].astype(bool)
    n_both, selected = int((overlap & core).sum()), heads[overlap | core]
    title += (
        f": {overlap.sum()} of {len(heads)} heads attend to the repeated word, {n_both} of {core.sum()} in the core"
    )
    columns = ["head", "share (%)", "times uniform", "attends to the repeated word", *headings, "core"]
    return Sheet(title, columns, [_row(row, cells) for row in selected.itertuples()])


def _row(row, cells: list[str]) -> list[str]:
    """Return the cells of one head; `cells` names the columns of counts."""
    kept = (format_number(getattr(row, cell), 0) for cell in cells)
    return [
        row.name,
        format_number(100 * row.share),
        format_number(row.times_uniform),
        _format_flag(row.overlap),
        *kept,
        _format_flag(row.in_core),
    ]


def _format_flag(value: bool) -> str:
    """Format a flag as "yes" or nothing."""
    return "yes" if value else ""
