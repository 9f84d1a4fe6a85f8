"""What ablating heads, or one of their modes, costs at the end of training, by what takes their place."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from heuristic_core.experiments.list_sorting.figures.costs import ALL, MEASURES, MODES, costs, mode_costs
from heuristic_core.experiments.list_sorting.figures.looks import KINDS, conditions
from heuristic_core.experiments.list_sorting.modes import COPIES, COPYING, OTHER, SUPPRESSES, SUPPRESSION
from heuristic_core.figures.lines import handles
from heuristic_core.figures.panels import panels
from heuristic_core.figures.seeds import with_means

ABLATED = {
    COPIES: "without the head that copies most",
    SUPPRESSES: "without the head that suppresses most",
    OTHER: "without one of the other heads, their mean",
    ALL: "without any head",
    MODES[COPYING]: "without the numbers that heads copy",
    MODES[SUPPRESSION]: "without the numbers that heads suppress",
}
WIDTH = 0.9  # of the marks of one condition, conditions being 1 apart
BY = ["condition", "role", "kind", "measure"]
MARGIN = 0.06  # beside the points, of their range


def draw(tables, settings):
    """Rows: which heads, or modes of all heads, are ablated; columns: measures. Marks: one row per mark.

    Changes are paired: of the same model, ablated less whole.
    """
    changes = pd.concat([costs(tables), mode_costs(tables)], ignore_index=True)
    changes = changes.melt([*BY[:-1], "seed"], list(MEASURES), "measure", "value")
    changes = changes.groupby([*BY, "seed"], sort=False, as_index=False)["value"].mean()  # over several other heads
    points, names = with_means(changes, BY), conditions(changes)
    shown = [role for role in ABLATED if role in set(points["role"])]
    height = len(shown) * (0.34 * len(names) + 0.35) + 0.7
    figure, axes = panels(settings, len(shown), len(MEASURES), height, sharex="col", sharey=True)
    for row, role in zip(axes, shown, strict=True):
        of_role = points[points["role"] == role]
        for ax, measure in zip(row, MEASURES, strict=True):
            _panel(ax, of_role[of_role["measure"] == measure], names)
        row[0].set_title(ABLATED[role], loc="left")
        row[0].set_yticks(range(len(names)), names)
    axes[0, 0].set_ylim(len(names) - 0.5, -0.5)
    for ax, (measure, label) in zip(axes[-1], MEASURES.items(), strict=True):
        ax.set_xlabel(f"change in {label}")
        _fit(ax, points.loc[points["measure"] == measure, "value"])
    figure.legend(handles=handles(KINDS), loc="outside upper center", ncols=len(KINDS), title="in its place")
    return figure, points


def _panel(ax: Axes, points: pd.DataFrame, names: list[str]) -> None:
    ax.axvline(0, color="0.7", linewidth=0.6, zorder=0)
    beside = np.linspace(-WIDTH / 2, WIDTH / 2, len(KINDS) + 2)[1:-1]
    for (kind, look), side in zip(KINDS.items(), beside, strict=True):
        own = points[points["kind"] == kind]
        own = own.assign(y=own["condition"].map({name: k + side for k, name in enumerate(names)}))
        means, seeds = own[own["seed"].isna()], own[own["seed"].notna()]
        ax.hlines(means["y"], means["low"], means["high"], look.colour, linewidth=0.9)
        ax.plot(means["value"], means["y"], look.marker, color=look.colour, markersize=3)
        ax.plot(seeds["value"], seeds["y"], "|", color=look.colour, markersize=4, markeredgewidth=0.6)


def _fit(ax: Axes, values: pd.Series) -> None:
    """Points fill the axis; an interval of few seeds can be many times as wide, and is cut off."""
    low, high = min(values.min(), 0), max(values.max(), 0)
    margin = MARGIN * ((high - low) or 1)
    ax.set_xlim(low - margin, high + margin)
