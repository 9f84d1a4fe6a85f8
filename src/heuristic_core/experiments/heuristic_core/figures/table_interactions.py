"""What pairs and sets of heads cost together beyond what they cost one by one, in accuracy and in log odds."""

import pandas as pd

from heuristic_core.experiments.heuristic_core.figures.roles import ROLES
from heuristic_core.experiments.heuristic_core.figures.rows import GROUPS, MEASURED, ft_seeds, some
from heuristic_core.figures.sheets import Sheet
from heuristic_core.figures.text import seed_label, signed

JOINT = ("core-all", "strongest", "chosen", "pair")
NUMBERS = ["change", "change_low", "change_high", "interaction", "interaction_low", "interaction_high"]
LOG_ODDS = ["log_odds_interaction", "log_odds_interaction_low", "log_odds_interaction_high"]
RANDOM = ["controls", "controls_mean", "controls_lowest"]
COLUMNS = ["ft_seed", "kind", "ablation", "role", "size", "layers", "group", *NUMBERS, *LOG_ODDS, *RANDOM]
HEADS = ("change", "random sets", "interaction", "in log odds")


def draw(tables, settings, context):
    """No figure. Marks: one row per kind of ablation, joint set and group.

    controls: how many random sets with as many heads in each layer were ablated so, controls_mean and controls_lowest
    their changes in points.
    """
    rows = tables["ablations"]
    rows = rows[(rows["step"] == context.last) & rows["subset"].isna()]
    rows = some(rows, f"ablations at step {context.last}")
    joint = rows[rows["role"].isin(JOINT)]
    none = rows[(rows["role"] == "none") & ~rows["ft_seed"].isin(joint["ft_seed"])]
    joint = pd.concat([joint, none[[*COLUMNS[:2], "group"]].assign(ablation="no two core heads")])
    alike = ["ft_seed", "kind", "layers", "group"]
    changes = rows[rows["role"] == "control"].groupby(alike)["change"]
    controls = changes.agg(controls="size", controls_mean="mean", controls_lowest="min").reset_index()
    return None, joint.merge(controls, on=alike, how="left")[COLUMNS]


def sheets(marks: pd.DataFrame) -> list[Sheet]:
    """For each fine-tuning seed and kind of ablation a table of ID and OOD."""
    found = []
    for seed in ft_seeds(marks):
        for kind, rows in marks[marks["ft_seed"] == seed].groupby("kind", sort=False):
            groups = [group for group in MEASURED if group in set(rows["group"])]
            lines = [
                [name, *(cell for group in groups for cell in _cells(of_set[of_set["group"] == group], group))]
                for name, of_set in rows.groupby("ablation", sort=False)
            ]
            heads = [f"{ROLES[group].label}: {head}" for group in groups for head in _heads(group)]
            found.append(Sheet(f"{seed_label(seed).capitalize()}, {kind} ablation", ["heads", *heads], lines))
    return found


def _heads(group: str) -> tuple[str, ...]:
    return HEADS if group in GROUPS else HEADS[:-1]  # J and AUC have no log odds


def _cells(rows: pd.DataFrame, group: str) -> list[str]:
    if rows.empty:
        return [""] * len(_heads(group))
    row = rows.iloc[0]
    random = "" if pd.isna(row["controls"]) else f"{signed(row['controls_mean'])} (n = {row['controls']:.0f})"
    texts = [_with_interval(row, "change", 1), random, _with_interval(row, "interaction", 1)]
    return [*texts, _with_interval(row, "log_odds_interaction", 2)][: len(_heads(group))]


def _with_interval(row: pd.Series, name: str, digits: int) -> str:
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    ends = "" if pd.isna(low) or pd.isna(high) else f" ({signed(low, digits)} to {signed(high, digits)})"
    return signed(row[name], digits) + ends
