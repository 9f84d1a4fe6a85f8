"""Learned subnetworks beside random subnetworks and subnetworks by gradient importance."""

import pandas as pd

from heuristic_core.config.figure import Figure
from heuristic_core.experiments.subnetworks.analysis.controls import CONTROLS
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.experiments.subnetworks.figures.roles import ROLES
from heuristic_core.experiments.subnetworks.figures.rows import GROUPS, ft_seeds, map_subset_groups, require_rows
from heuristic_core.figures.drawing import Drawing, Tables
from heuristic_core.figures.sheets import Sheet
from heuristic_core.figures.text import format_number, format_signed

VALUES = ["n", "left_out", "accuracy", "sd", "difference", "difference_low", "difference_high"]


def draw(tables: Tables, settings: Figure, context: Context) -> Drawing:
    """Select rows of table "controls": all group means, and the subsets that the settings choose.

    Args:
        tables: Data frames by schema name: "controls".
        settings: The target's ``config.figure.Figure``.
        context: The study's ``config.context.Context``.

    Returns:
        No figure, and these rows as marks; `column` is a subset, or the mean of a group.
    """
    controls = tables["controls"]
    controls = require_rows(controls[controls["step"] == context.last], f"controls at step {context.last}")
    groups = controls[controls["subset"].isna()]
    groups = groups.assign(column=[f"{ROLES[group].label}, mean" for group in groups["group"]])
    groups = groups.sort_values("group", key=lambda names: names.map(GROUPS.index), kind="stable")
    parts = [groups]
    if settings.subsets:
        order = list(map_subset_groups(controls, settings.subsets))
        subsets = controls[controls["subset"].isin(order)]
        subsets = subsets.assign(column=subsets["subset"])
        parts.append(subsets.sort_values("subset", key=lambda names: names.map(order.index), kind="stable"))
    marks = pd.concat(parts).sort_values(["ft_seed", "sparsity"], kind="stable", ignore_index=True)
    return None, marks[["ft_seed", "sparsity", "control", "column", "group", "subset", *VALUES]]


def sheets(marks: pd.DataFrame) -> list[Sheet]:
    """Return a table of accuracies ± sd and differences for each fine-tuning seed and sparsity."""
    return [
        _sheet(cell, f"Fine-tuning seed {ft_seed}, sparsity {sparsity:g}")
        for ft_seed in ft_seeds(marks)
        for sparsity, cell in marks[marks["ft_seed"] == ft_seed].groupby("sparsity")
    ]


def _sheet(marks: pd.DataFrame, title: str) -> Sheet:
    """Return the table of one fine-tuning seed and sparsity."""
    columns, rows = list(dict.fromkeys(marks["column"])), []
    present = [control for control in CONTROLS if control in set(marks["control"])]
    cells = {(cell.control, cell.column): cell for cell in marks.itertuples()}
    for control in present:
        texts = (_format_accuracy(cells.get((control, column))) for column in columns)
        control_marks = marks[marks["control"] == control]
        left_out = int(control_marks["left_out"].max())
        faulty = f", {left_out} faulty, left out" if left_out else ""
        rows.append([f"{control} ({_format_n(control_marks['n'])}{faulty})", *texts])
    for control in present:
        if marks.loc[marks["control"] == control, "difference"].notna().any():
            rows.append(
                [f"learned − {control}", *(_format_difference(cells.get((control, column))) for column in columns)]
            )
    return Sheet(title, ["subnetworks", *columns], rows)


def _format_n(n: pd.Series) -> str:
    """Format the number of subnetworks, as in "n = 12", or "n = 10 to 12" if columns differ."""
    return f"n = {n.min()}" if n.min() == n.max() else f"n = {n.min()} to {n.max()}"


def _format_accuracy(cell) -> str:
    """Format accuracy ± sd; empty for a missing cell."""
    if cell is None or pd.isna(cell.accuracy):
        return ""
    return (
        format_number(cell.accuracy)
        if pd.isna(cell.sd)
        else f"{format_number(cell.accuracy)} ± {format_number(cell.sd)}"
    )


def _format_difference(cell) -> str:
    """Format a difference with its interval; empty for a missing cell."""
    if cell is None or pd.isna(cell.difference):
        return ""
    low, high = format_signed(cell.difference_low), format_signed(cell.difference_high)
    return f"{format_signed(cell.difference)} ({low} to {high})" if low else format_signed(cell.difference)
