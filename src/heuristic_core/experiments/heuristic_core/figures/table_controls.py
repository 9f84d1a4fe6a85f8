"""Learned subnetworks beside subnetworks at random, and by gradient importance."""

import pandas as pd

from heuristic_core.experiments.heuristic_core.analysis.controls import CONTROLS
from heuristic_core.experiments.heuristic_core.analysis.names import subset_label
from heuristic_core.experiments.heuristic_core.figures.collapsed import count, with_counts
from heuristic_core.experiments.heuristic_core.figures.roles import ROLES
from heuristic_core.experiments.heuristic_core.figures.rows import GROUPS, ft_seeds, some, subset_groups
from heuristic_core.figures.sheets import Sheet
from heuristic_core.figures.text import number, signed

VALUES = ["n", "collapsed", "accuracy", "sd", "difference", "difference_low", "difference_high"]


def draw(tables, settings, context):
    """No figure, and the rows of table "controls" that are shown: every group mean, and the subsets of `settings`.

    column: a subset, or the mean of a group.
    """
    controls = tables["controls"]
    controls = some(controls[controls["step"] == context.last], f"controls at step {context.last}")
    controls = with_counts(controls, tables, context.seeds)
    controls["collapsed"] = controls["collapsed"].where(controls["control"] == "learned", 0)
    groups = controls[controls["subset"].isna()]
    groups = groups.assign(column=[f"{ROLES[group].label}, mean" for group in groups["group"]])
    groups = groups.sort_values("group", key=lambda names: names.map(GROUPS.index), kind="stable")
    parts = [groups]
    if settings.subsets:
        order = list(subset_groups(controls, settings.subsets))
        subsets = controls[controls["subset"].isin(order)]
        subsets = subsets.assign(column=subsets["subset"].map(subset_label))
        parts.append(subsets.sort_values("subset", key=lambda names: names.map(order.index), kind="stable"))
    marks = pd.concat(parts).sort_values(["ft_seed", "sparsity"], kind="stable", ignore_index=True)
    return None, marks[["ft_seed", "sparsity", "control", "column", "group", "subset", *VALUES]]


def sheets(marks: pd.DataFrame) -> list[Sheet]:
    """One for each fine-tuning seed and sparsity: accuracies with their standard deviations, and differences."""
    return [
        _sheet(cell, f"Fine-tuning seed {ft_seed}, sparsity {sparsity:g}")
        for ft_seed in ft_seeds(marks)
        for sparsity, cell in marks[marks["ft_seed"] == ft_seed].groupby("sparsity")
    ]


def _sheet(marks: pd.DataFrame, title: str) -> Sheet:
    columns, rows = list(dict.fromkeys(marks["column"])), []
    present = [control for control in CONTROLS if control in set(marks["control"])]
    cells = {(cell.control, cell.column): cell for cell in marks.itertuples()}
    for control in present:
        texts = (_accuracy(cells.get((control, column))) for column in columns)
        of_control = marks[marks["control"] == control]
        n = count(_count(of_control["n"]), of_control["collapsed"].max()).replace(" (", ", ").removesuffix(")")
        rows.append([f"{control} ({n})", *texts])
    for control in present:
        if marks.loc[marks["control"] == control, "difference"].notna().any():
            rows.append([f"learned − {control}", *(_difference(cells.get((control, column))) for column in columns)])
    return Sheet(title, ["subnetworks", *columns], rows)


def _count(n: pd.Series) -> str:
    """For instance "n = 12", or "n = 10 to 12" where columns differ."""
    return f"n = {n.min()}" if n.min() == n.max() else f"n = {n.min()} to {n.max()}"


def _accuracy(cell) -> str:
    if cell is None or pd.isna(cell.accuracy):
        return ""
    return number(cell.accuracy) if pd.isna(cell.sd) else f"{number(cell.accuracy)} ± {number(cell.sd)}"


def _difference(cell) -> str:
    if cell is None or pd.isna(cell.difference):
        return ""
    low, high = signed(cell.difference_low), signed(cell.difference_high)
    return f"{signed(cell.difference)} ({low} to {high})" if low else signed(cell.difference)
