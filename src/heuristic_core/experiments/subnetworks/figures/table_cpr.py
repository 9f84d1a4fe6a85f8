"""CPR and CMD by checkpoint and group, with the accuracies of the empty circuit and the full model."""

import pandas as pd

from heuristic_core.config.figure import Figure
from heuristic_core.experiments.subnetworks.analysis.circuit_performance import GROUPS
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.experiments.subnetworks.figures.collapsed import add_collapsed_counts, format_count
from heuristic_core.experiments.subnetworks.figures.roles import ROLES
from heuristic_core.experiments.subnetworks.figures.rows import ft_seeds, require_rows
from heuristic_core.figures.drawing import Drawing, Tables
from heuristic_core.figures.sheets import Sheet
from heuristic_core.figures.text import format_interval, format_number, format_seed

COLUMNS = ["ft_seed", "step", "group", "full_accuracy", "empty_accuracy", "cpr", "cpr_low", "cpr_high"]
COLUMNS += ["cmd", "cmd_low", "cmd_high", "n_seeds", "reason"]


def draw(tables: Tables, settings: Figure, context: Context) -> Drawing:
    """Return no figure, and marks: the means over pruning seeds, one row per checkpoint and group.

    Args:
        tables: Data frames by schema name: "circuit_performance", and "runs" if the study has it.
        settings: Not used; every target takes it.
        context: The study's ``config.context.Context``.
    """
    rows = tables["circuit_performance"]
    rows = require_rows(rows[rows["seed"].isna()], "means over seeds in table circuit_performance")[COLUMNS]
    return None, add_collapsed_counts(rows, tables, context.curve_seeds, context.curve_repeat, ["ft_seed", "step"])


def sheets(marks: pd.DataFrame) -> list[Sheet]:
    """Return a table for each fine-tuning seed: checkpoints, and three columns for each group."""
    sheet_list = []
    for ft_seed in ft_seeds(marks):
        rows = marks[marks["ft_seed"] == ft_seed]
        groups = [group for group in GROUPS if group in set(rows["group"])]
        lines = [
            [
                format_count(step, step_rows["collapsed"].max()),
                *(cell for group in groups for cell in _cells(step_rows, group)),
            ]
            for step, step_rows in rows.groupby("step")
        ]
        headings = [
            f"{ROLES[group].label}{suffix}" for group in groups for suffix in (": empty, full", ": CPR", ": CMD")
        ]
        seeds = rows["n_seeds"].max()
        title = f"{format_seed(ft_seed).capitalize()}, percent (J: points), means over {seeds} pruning seeds"
        sheet_list.append(Sheet(title, ["step", *headings], lines))
    return sheet_list


def _cells(rows: pd.DataFrame, group: str) -> list[str]:
    """Return the three cells of a group: accuracies, CPR and CMD with intervals."""
    rows = rows[rows["group"] == group]
    if rows.empty:
        return ["missing"] * 3
    row = rows.iloc[0]
    ends = f"{format_number(row['empty_accuracy'])}, {format_number(row['full_accuracy'])}"
    if pd.isna(row["cmd"]):
        return [ends, *[row["reason"].partition(":")[0]] * 2]
    return [
        ends,
        *(
            format_number(row[measure]) + format_interval(row[f"{measure}_low"], row[f"{measure}_high"])
            for measure in ("cpr", "cmd")
        ),
    ]
