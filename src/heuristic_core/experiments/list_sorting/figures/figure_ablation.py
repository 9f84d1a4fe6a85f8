"""The cost of ablating heads, or one of their modes, at the end of training, by kind of replacement."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from heuristic_core.config.figure import Figure
from heuristic_core.experiments.list_sorting.figures.costs import (
    ALL_HEADS,
    MEASURES,
    MODE_ROLES,
    ablation_costs,
    mode_ablation_costs,
)
from heuristic_core.experiments.list_sorting.figures.styles import KINDS, condition_names
from heuristic_core.experiments.list_sorting.modes import COPIES, COPYING, OTHER, SUPPRESSES, SUPPRESSION
from heuristic_core.figures.drawing import Drawing, Tables
from heuristic_core.figures.lines import legend_handles
from heuristic_core.figures.panels import make_panels
from heuristic_core.figures.seeds import append_means, drop_few_seeds

ABLATED = {
    COPIES: "without the head that copies most",
    SUPPRESSES: "without the head that suppresses most",
    OTHER: "without one of the other heads, their mean",
    ALL_HEADS: "without any head",
    MODE_ROLES[COPYING]: "without the numbers that heads copy",
    MODE_ROLES[SUPPRESSION]: "without the numbers that heads suppress",
}
WIDTH = 0.9  # width of the marks of one condition, as a share of the distance of conditions
SEED_MARK = {"marker": "|", "markersize": 4, "markeredgewidth": 0.6}
KEYS = ["condition", "role", "kind", "measure"]
MARGIN = 0.06  # beside the points, as a share of their range


def draw(tables: Tables, settings: Figure) -> Drawing:
    """Draw a row of panels for each set of ablated heads or mode, with its conditions, and a column for each measure.

    Changes are paired: of the same model, ablated minus whole.

    Returns:
        The figure, and marks: one row per mark.
    """
    changes = pd.concat([ablation_costs(tables), mode_ablation_costs(tables)], ignore_index=True)
    changes = changes.melt([*KEYS[:-1], "seed"], list(MEASURES), "measure", "value")
    changes = changes.groupby([*KEYS, "seed"], sort=False, as_index=False)["value"].mean()  # over several other heads
    points = drop_few_seeds(append_means(changes, KEYS))
    drawn = {role: points[points["role"] == role] for role in ABLATED if role in set(points["role"])}
    names = {role: condition_names(rows[rows["value"].notna()]) for role, rows in drawn.items()}
    counts = [max(len(role_names), 1) for role_names in names.values()]
    height = 0.25 * sum(counts) + 0.5 * len(counts) + 0.7
    figure, axes = make_panels(settings, len(drawn), len(MEASURES), height, sharey="row", height_ratios=counts)
    for row, (role, rows) in zip(axes, drawn.items(), strict=True):
        for ax, measure in zip(row, MEASURES, strict=True):
            values = rows[rows["measure"] == measure]
            _panel(ax, values, names[role])
            _fit(ax, values["value"])
        row[0].set_title(ABLATED[role], loc="left")
        row[0].set_yticks(range(len(names[role])), names[role])
        row[0].set_ylim(max(len(names[role]), 1) - 0.5, -0.5)
    for ax, label in zip(axes[-1], MEASURES.values(), strict=True):
        ax.set_xlabel(f"change in {label}")
    seed = Line2D([], [], color="0.4", label="one seed", linestyle="", **SEED_MARK)
    handles = [*legend_handles(KINDS), seed]
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles), title="in its place")
    return figure, points


def _panel(ax: Axes, points: pd.DataFrame, names: list[str]) -> None:
    """Draw the means, intervals and seeds of one set of heads and one measure."""
    ax.axvline(0, color="0.7", linewidth=0.6, zorder=0)
    offsets = np.linspace(-WIDTH / 2, WIDTH / 2, len(KINDS) + 2)[1:-1]
    for (kind, look), offset in zip(KINDS.items(), offsets, strict=True):
        kind_points = points[points["kind"] == kind]
        kind_points = kind_points.assign(
            y=kind_points["condition"].map({name: k + offset for k, name in enumerate(names)})
        )
        means, seeds = kind_points[kind_points["seed"].isna()], kind_points[kind_points["seed"].notna()]
        ax.hlines(means["y"], means["low"], means["high"], look.colour, linewidth=0.9)
        ax.plot(means["value"], means["y"], look.marker, color=look.colour, markersize=3)
        ax.plot(seeds["value"], seeds["y"], color=look.colour, linestyle="", **SEED_MARK)


def _fit(ax: Axes, values: pd.Series) -> None:
    """Fit the axis to the points; wide intervals of few seeds are cut off."""
    low, high = min(values.min(), 0), max(values.max(), 0)
    margin = MARGIN * ((high - low) or 1)
    ax.set_xlim(low - margin, high + margin)
