"""CPR and CMD by checkpoint and group, with the accuracies of the empty circuit and the full model."""

import pandas as pd

from heuristic_core.experiments.heuristic_core.analysis.circuit_performance import GROUPS
from heuristic_core.experiments.heuristic_core.figures.collapsed import add_collapsed_counts, count
from heuristic_core.experiments.heuristic_core.figures.roles import ROLES
from heuristic_core.experiments.heuristic_core.figures.rows import ft_seeds, some
from heuristic_core.figures.sheets import Sheet
from heuristic_core.figures.text import bracket, number, seed_label

COLUMNS = ["ft_seed", "step", "group", "full_accuracy", "empty_accuracy", "cpr", "cpr_low", "cpr_high"]
COLUMNS += ["cmd", "cmd_low", "cmd_high", "n_seeds", "reason"]


def draw(tables, settings, context):
    """Return no figure, and marks: the means over pruning seeds, one row per checkpoint and group."""
    rows = tables["circuit_performance"]
    rows = some(rows[rows["seed"].isna()], "means over seeds in table circuit_performance")[COLUMNS]
    return None, add_collapsed_counts(rows, tables, context.curve_seeds, context.curve_repeat, ["ft_seed", "step"])


def sheets(marks: pd.DataFrame) -> list[Sheet]:
    """Return a table for each fine-tuning seed: checkpoints, and three columns for each group."""
    sheet_list = []
    for ft_seed in ft_seeds(marks):
        rows = marks[marks["ft_seed"] == ft_seed]
        groups = [group for group in GROUPS if group in set(rows["group"])]
        lines = [
            [
                count(step, step_rows["collapsed"].max()),
                *(cell for group in groups for cell in _cells(step_rows, group)),
            ]
            for step, step_rows in rows.groupby("step")
        ]
        headings = [
            f"{ROLES[group].label}{suffix}" for group in groups for suffix in (": empty, full", ": CPR", ": CMD")
        ]
        title = (
            f"{seed_label(ft_seed).capitalize()}, percent (J: points), means over {rows['n_seeds'].max()} pruning seeds"
        )
        sheet_list.append(Sheet(title, ["step", *headings], lines))
    return sheet_list


def _cells(rows: pd.DataFrame, group: str) -> list[str]:
    """Return the three cells of a group: accuracies, CPR and CMD with intervals."""
    rows = rows[rows["group"] == group]
    if rows.empty:
        return ["missing"] * 3
    row = rows.iloc[0]
    ends = f"{number(row['empty_accuracy'])}, {number(row['full_accuracy'])}"
    if pd.isna(row["cmd"]):
        return [ends, *[row["reason"].partition(":")[0]] * 2]
    return [
        ends,
        *(number(row[measure]) + bracket(row[f"{measure}_low"], row[f"{measure}_high"]) for measure in ("cpr", "cmd")),
    ]
