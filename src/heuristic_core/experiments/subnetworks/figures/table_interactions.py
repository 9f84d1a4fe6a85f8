"""Interactions of ablated heads: the cost of pairs and sets beyond the sum of single costs."""

import pandas as pd

from heuristic_core.config.figure import Figure
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.experiments.subnetworks.figures.roles import ROLES
from heuristic_core.experiments.subnetworks.figures.rows import GROUPS, SUMMARY_GROUPS, ft_seeds, require_rows
from heuristic_core.figures.drawing import Drawing, Tables
from heuristic_core.figures.sheets import Sheet
from heuristic_core.figures.text import format_seed, format_signed

JOINT_ROLES = ("core-all", "strongest", "chosen", "pair")
NUMBERS = ["change", "change_low", "change_high", "interaction", "interaction_low", "interaction_high"]
LOG_ODDS = ["log_odds_interaction", "log_odds_interaction_low", "log_odds_interaction_high"]
CONTROLS = ["controls", "controls_mean", "controls_lowest"]
COLUMNS = ["ft_seed", "kind", "ablation", "role", "size", "layers", "group", *NUMBERS, *LOG_ODDS, *CONTROLS]
HEADINGS = ("change", "random sets", "interaction", "in log odds")


def draw(tables: Tables, settings: Figure, context: Context) -> Drawing:
    """Collect the rows of the table.

    Args:
        tables: Data frames by schema name: "ablations".
        settings: Not used; every target takes it.
        context: The study's ``config.context.Context``.

    Returns:
        No figure, and the marks: one row per kind of ablation, joint set and group. `controls` is the number of ablated
        random sets with as many heads in each layer; `controls_mean` and `controls_lowest` are their changes in points.
    """
    rows = tables["ablations"]
    rows = rows[(rows["step"] == context.last) & rows["subset"].isna()]
    rows = require_rows(rows, f"ablations at step {context.last}")
    joint = rows[rows["role"].isin(JOINT_ROLES)]
    full_rows = rows[(rows["role"] == "none") & ~rows["ft_seed"].isin(joint["ft_seed"])]
    joint = pd.concat([joint, full_rows[[*COLUMNS[:2], "group"]].assign(ablation="no two core heads")])
    keys = ["ft_seed", "kind", "layers", "group"]
    changes = rows[rows["role"] == "control"].groupby(keys)["change"]
    controls = changes.agg(controls="size", controls_mean="mean", controls_lowest="min").reset_index()
    return None, joint.merge(controls, on=keys, how="left")[COLUMNS]


def sheets(marks: pd.DataFrame) -> list[Sheet]:
    """Return a table for each fine-tuning seed and kind of ablation."""
    sheet_list = []
    for seed in ft_seeds(marks):
        for kind, rows in marks[marks["ft_seed"] == seed].groupby("kind", sort=False):
            groups = [group for group in SUMMARY_GROUPS if group in set(rows["group"])]
            lines = [
                [name, *(cell for group in groups for cell in _cells(set_rows[set_rows["group"] == group], group))]
                for name, set_rows in rows.groupby("ablation", sort=False)
            ]
            headings = [f"{ROLES[group].label}: {heading}" for group in groups for heading in _headings(group)]
            sheet_list.append(Sheet(f"{format_seed(seed).capitalize()}, {kind} ablation", ["heads", *headings], lines))
    return sheet_list


def _headings(group: str) -> tuple[str, ...]:
    """Return the headings of a group's columns."""
    return HEADINGS if group in GROUPS else HEADINGS[:-1]  # J and AUC have no log odds


def _cells(rows: pd.DataFrame, group: str) -> list[str]:
    """Return a group's cells of one set of heads."""
    if rows.empty:
        return [""] * len(_headings(group))
    row = rows.iloc[0]
    random = "" if pd.isna(row["controls"]) else f"{format_signed(row['controls_mean'])} (n = {row['controls']:.0f})"
    texts = [_format_interval(row, "change", 1), random, _format_interval(row, "interaction", 1)]
    return [*texts, _format_interval(row, "log_odds_interaction", 2)][: len(_headings(group))]


def _format_interval(row: pd.Series, name: str, digits: int) -> str:
    """Format a signed value, with its interval in brackets if it has one."""
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    ends = "" if pd.isna(low) or pd.isna(high) else f" ({format_signed(low, digits)} to {format_signed(high, digits)})"
    return format_signed(row[name], digits) + ends
