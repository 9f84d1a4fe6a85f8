"""CPR and CMD by checkpoint and group, with the accuracies between which they are measured."""

import pandas as pd

from heuristic_core.experiments.heuristic_core.analysis.circuit_performance import GROUPS
from heuristic_core.experiments.heuristic_core.figures.collapsed import count, with_counts
from heuristic_core.experiments.heuristic_core.figures.roles import ROLES
from heuristic_core.experiments.heuristic_core.figures.rows import ft_seeds, some
from heuristic_core.figures.sheets import Sheet
from heuristic_core.figures.text import bracket, number, seed_label

COLUMNS = ["ft_seed", "step", "group", "full_accuracy", "empty_accuracy", "cpr", "cpr_low", "cpr_high"]
COLUMNS += ["cmd", "cmd_low", "cmd_high", "n_seeds", "reason"]


def draw(tables, settings, context):
    """No figure. Marks: the means over pruning seeds, one row per checkpoint and group."""
    rows = tables["circuit_performance"]
    rows = some(rows[rows["seed"].isna()], "means over seeds in table circuit_performance")[COLUMNS]
    return None, with_counts(rows, tables, context.curve_seeds, context.curve_repeat, ["ft_seed", "step"])


def sheets(marks: pd.DataFrame) -> list[Sheet]:
    """One for each fine-tuning seed: checkpoints, and three columns for each group."""
    found = []
    for ft_seed in ft_seeds(marks):
        rows = marks[marks["ft_seed"] == ft_seed]
        groups = [group for group in GROUPS if group in set(rows["group"])]
        lines = [
            [count(step, at["collapsed"].max()), *(cell for group in groups for cell in _cells(at, group))]
            for step, at in rows.groupby("step")
        ]
        heads = [f"{ROLES[group].label}{of}" for group in groups for of in (": empty, full", ": CPR", ": CMD")]
        title = (
            f"{seed_label(ft_seed).capitalize()}, percent (J: points), means over {rows['n_seeds'].max()} pruning seeds"
        )
        found.append(Sheet(title, ["step", *heads], lines))
    return found


def _cells(rows: pd.DataFrame, group: str) -> list[str]:
    rows = rows[rows["group"] == group]
    if rows.empty:
        return ["missing"] * 3
    row = rows.iloc[0]
    ends = f"{number(row['empty_accuracy'])}, {number(row['full_accuracy'])}"
    if pd.isna(row["cmd"]):
        return [ends, *[row["reason"].partition(":")[0]] * 2]
    return [ends, *(number(row[m]) + bracket(row[f"{m}_low"], row[f"{m}_high"]) for m in ("cpr", "cmd"))]
