"""Heads that attend to the repeated word before fine-tuning, beside which heads subnetworks keep after it."""

import pandas as pd

from heuristic_core.experiments.heuristic_core.figures.rows import ft_seeds, some
from heuristic_core.figures.sheets import Sheet
from heuristic_core.figures.text import number, seed_label
from heuristic_core.tables.columns import COMPONENT, RUN

KEPT = ("mid", "high", "early")
COLUMNS = ["ft_seed", *COMPONENT, "share", "uniform", "times_uniform", "overlap"]
COLUMNS += [*KEPT, *(f"n_{cell}" for cell in KEPT), "in_core"]


def draw(tables, settings, context):
    """No figure. Marks: one row per head, those that attend most to the repeated word first.

    times_uniform: share over what uniform attention gives; null where that is 0, as no word is repeated.
    """
    before = some(tables["overlap_heads"], "rows in table overlap_heads")
    marks = before.merge(tables["core"], on=[*RUN, *COMPONENT], validate="one_to_one")
    marks["times_uniform"] = marks["share"] / marks["uniform"].where(marks["uniform"] > 0)
    order = ["ft_seed", "times_uniform", "component"]
    return None, marks.sort_values(order, ascending=[True, False, True], kind="stable", ignore_index=True)[COLUMNS]


def sheets(marks: pd.DataFrame) -> list[Sheet]:
    """A table for each fine-tuning seed, of the heads that attend to the repeated word and of those in the core."""
    return [_sheet(marks[marks["ft_seed"] == seed], seed_label(seed).capitalize()) for seed in ft_seeds(marks)]


def _sheet(heads: pd.DataFrame, title: str) -> Sheet:
    cells = [cell for cell in KEPT if heads[f"n_{cell}"].notna().any()]
    known = [f"{cell} (of {heads[f'n_{cell}'].max()})" for cell in cells]
    overlap, core = heads["overlap"].astype(bool), heads["in_core"].astype(bool)
    both, shown = int((overlap & core).sum()), heads[overlap | core]
    title += f": {overlap.sum()} of {len(heads)} heads attend to the repeated word, {both} of {core.sum()} in the core"
    columns = ["head", "share (%)", "times uniform", "attends to the repeated word", *known, "core"]
    return Sheet(title, columns, [_row(row, cells) for row in shown.itertuples()])


def _row(row, cells: list[str]) -> list[str]:
    kept = (number(getattr(row, cell), 0) for cell in cells)
    return [row.name, number(100 * row.share), number(row.times_uniform), _yes(row.overlap), *kept, _yes(row.in_core)]


def _yes(value: bool) -> str:
    return "yes" if value else ""
