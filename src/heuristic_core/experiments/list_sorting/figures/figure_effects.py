"""What each head does to every number by attending to it, at the end of training."""

import textwrap

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator

from heuristic_core.config.figure import Figure
from heuristic_core.experiments.list_sorting.effect_measures import ERRORS
from heuristic_core.experiments.list_sorting.figures.styles import (
    HEADS,
    condition_names,
    label_lowest,
    select_end_seeds,
)
from heuristic_core.experiments.list_sorting.modes import MODEL_KEYS, OTHER, assign_roles, select_last_step
from heuristic_core.figures.drawing import Drawing, Tables
from heuristic_core.figures.lines import legend_handles
from heuristic_core.figures.panels import make_panels
from heuristic_core.figures.text import format_number

TARGETS = {"effect": "next", "other_effect": "another is next"}  # column of "sorting_numbers" -> where the number is
COLUMNS = ["condition", "seed", "head", "role", "number", *TARGETS, "effect_error", "other_effect_error"]
LABEL_WIDTH = 16  # characters in a line of a condition's name


def draw(tables: Tables, settings: Figure) -> Drawing:
    """Draw a row for each condition; columns are its first and its last seed, where the number is next and where not.

    Returns:
        The figure, and marks: one row per head and number.
    """
    rows = select_end_seeds(select_last_step(tables["sorting_numbers"]))
    roles = assign_roles(select_last_step(tables["sorting_heads"]))[[*MODEL_KEYS, "head", "role"]]
    rows = rows.merge(roles, on=[*MODEL_KEYS, "head"], validate="many_to_one").astype(dict.fromkeys(TARGETS, float))
    names, columns = condition_names(rows), rows.groupby("condition")["seed"].nunique().max()
    figure, axes = make_panels(settings, len(names), 2 * columns, 1.1 * len(names) + 0.8, sharex="row", sharey="row")
    for axes_row, name in zip(axes, names, strict=True):
        models = list(rows[rows["condition"] == name].groupby("seed"))
        for k, (seed, model) in enumerate(models):
            for ax, (column, target) in zip(axes_row[2 * k :], TARGETS.items(), strict=False):
                _draw_heads(ax, model, column)
                ax.set_title(f"seed {seed}, {target}", loc="left")
        for ax in axes_row[2 * len(models) :]:
            ax.remove()
        axes_row[0].set_ylabel(f"{textwrap.fill(name, LABEL_WIDTH)}\neffect (logits)")
    for column in axes.T:
        label_lowest([ax for ax in column if ax.figure], "number")
    looks = HEADS | {OTHER: HEADS[OTHER]._replace(label="other heads")}
    drawn = {role: look for role, look in looks.items() if role in set(rows["role"])}
    figure.legend(handles=legend_handles(drawn), loc="outside upper center", ncols=len(drawn))
    return figure, rows[COLUMNS]


def _draw_heads(ax: Axes, model: pd.DataFrame, column: str) -> None:
    """Draw the effects of all heads of one model on every number."""
    ax.axhline(0, color="0.7", linewidth=0.6, zorder=0)
    for _, head in model.groupby("head"):
        look = HEADS[head["role"].iloc[0]]
        head = head.sort_values("number", kind="stable")
        ax.plot(head["number"], head[column], color=look.colour, linestyle=look.line, linewidth=0.9)
        error = ERRORS * head[f"{column}_error"].astype(float)
        low, high = head[column] - error, head[column] + error
        ax.fill_between(head["number"], low, high, color=look.colour, alpha=0.2, linewidth=0)
    ax.set_yscale("symlog", linthresh=1.0)
    ax.yaxis.set_major_locator(FixedLocator([-10, -1, 0, 1, 10, 100]))
    ax.yaxis.set_major_formatter(lambda value, _: format_number(value))
