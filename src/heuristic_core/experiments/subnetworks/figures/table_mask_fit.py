"""How well effects of heads, estimated from random masks, predict the accuracy of learned subnetworks."""

import pandas as pd

from heuristic_core.common.errors import format_count
from heuristic_core.config.figure import Figure
from heuristic_core.experiments.subnetworks.analysis.accuracy import OOD
from heuristic_core.experiments.subnetworks.analysis.counter_heads import LEARNED, RANDOM
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.experiments.subnetworks.figures.roles import group_label
from heuristic_core.experiments.subnetworks.figures.rows import ft_seeds, require_rows
from heuristic_core.figures.drawing import Drawing, Tables
from heuristic_core.figures.sheets import Sheet
from heuristic_core.figures.text import format_number, format_seed

COLUMNS = ["ft_seed", "masks", "subset", "group", "family", "n", "heads", "sd", "error", "r2", "rho", "reason"]
HEADINGS = ["of", "SD (points)", "error (points)", "R²", "rho", "R², random masks"]
REASON = "reason"  # heading of a last column, if a value is missing


def draw(tables: Tables, settings: Figure, context: Context) -> Drawing:
    """Return no figure, and marks with one row per value and kind of masks, without families.

    Args:
        tables: Data frames by schema name: "mask_fit".
        settings: Not used; every target takes it.
        context: Not used; every target takes it.
    """
    fit = require_rows(tables["mask_fit"], "rows in table mask_fit")
    return None, fit.loc[fit["subset"].notna() | fit["family"].isna(), COLUMNS]


def sheets(marks: pd.DataFrame) -> list[Sheet]:
    """Return a table for each fine-tuning seed: means over groups and J first, then OOD subsets."""
    return [_sheet(marks[marks["ft_seed"] == seed], format_seed(seed).capitalize()) for seed in ft_seeds(marks)]


def _sheet(rows: pd.DataFrame, title: str) -> Sheet:
    """Return the table of one fine-tuning seed, or a table of the reason if no learned subnetwork is sound."""
    by_kind = {kind: rows[rows["masks"] == kind] for kind in (LEARNED, RANDOM)}
    learned = by_kind[LEARNED]
    if learned.empty:
        return Sheet(title, [HEADINGS[0], REASON], [["", rows["reason"].iloc[0]]])
    title += f": {learned['n'].max()} subnetworks, {format_count(int(learned['heads'].max()), 'head')} outside the core"
    selected = learned[learned["subset"].isna() | (learned["group"] == OOD)]
    selected = selected.assign(last=selected["subset"].notna()).sort_values("last", kind="stable")
    ceiling = {_row_label(row): row.r2 for row in by_kind[RANDOM].itertuples()}
    cells = [_cells(row, ceiling) for row in selected.itertuples()]
    if any(row[-1] for row in cells):
        return Sheet(title, [*HEADINGS, REASON], cells)
    return Sheet(title, HEADINGS, [row[:-1] for row in cells])


def _row_label(row) -> str:
    """Return the label of a subset or a group."""
    return row.subset if isinstance(row.subset, str) else group_label(row.group)


def _cells(row, ceiling: dict[str, float]) -> list[str]:
    """Return the cells of a row, the reason last; `ceiling` has R² of random masks by label."""
    reason = row.reason if isinstance(row.reason, str) else ""
    fit = [format_number(row.sd), format_number(row.error), _format_r2(row.r2), format_number(row.rho, 2)]
    return [_row_label(row), *fit, _format_r2(ceiling[_row_label(row)]), reason]


def _format_r2(value: float) -> str:
    """Format R²; how far it is below 0 says only how little the predicted values differ."""
    return "below 0" if pd.notna(value) and value < 0 else format_number(value, 2)
