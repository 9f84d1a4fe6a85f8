"""Modes of heads at the end of training, against the mean gap between neighbours of a sorted list."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from heuristic_core.config.figure import Figure
from heuristic_core.experiments.list_sorting.figures.final_models import select_final_models
from heuristic_core.experiments.list_sorting.figures.styles import condition_looks
from heuristic_core.experiments.list_sorting.tables import measure_limits
from heuristic_core.figures.drawing import Drawing, Tables
from heuristic_core.figures.lines import legend_handles
from heuristic_core.figures.panels import make_wrapped_panels, spread_labels
from heuristic_core.figures.seeds import append_means, drop_few_seeds
from heuristic_core.figures.text import format_number

MEASURES = {
    "splitting": "vocabulary splitting",
    "suppression": "copy suppression",
    "overlap": "overlap of heads",
    "suppression_of_next": "copy suppression of the next number",
}
CONDITION = ["condition", "mean_gap"]
CONDITION_SPACING = 0.03  # between conditions of one gap, as a share of the axis
MIN_TICK_SPACING = 0.06  # as a share of the axis
SEED_MARK = {"marker": "_", "markersize": 5, "markeredgewidth": 0.6}
MARGIN = 1.15  # factor beside the smallest and the largest gap


def draw(tables: Tables, settings: Figure) -> Drawing:
    """Draw a panel for each measure, at the end of training.

    Returns:
        The figure, and marks: one row per point, of a seed or, with a null seed, of their mean.
    """
    models = select_final_models(tables)
    condition_rows = models[CONDITION].drop_duplicates()
    values = models.melt(["condition", "seed"], list(MEASURES), "measure", "value")
    points = drop_few_seeds(append_means(values, ["condition", "measure"], measure_limits))
    points = points.merge(
        condition_rows.assign(x=_spread_conditions(condition_rows["mean_gap"])), on="condition", validate="many_to_one"
    )
    looks = condition_looks(condition_rows["condition"])
    figure, axes = make_wrapped_panels(settings, len(MEASURES), 2.1, sharex=True, sharey=True)
    for ax, (measure, label) in zip(axes, MEASURES.items(), strict=True):
        for name, group in points[points["measure"] == measure].groupby("condition", sort=False):
            _marks(ax, group, looks[name].marker, looks[name].colour)
        ax.set_title(label, loc="left")
        ax.set(xlabel="mean gap between neighbours", ylabel="measure")
        ax.label_outer()
    axes[0].set(xscale="log", ylim=(-0.04, max(1.0, points["value"].max()) + 0.04))
    _set_gap_axis(axes[0], condition_rows["mean_gap"])
    seed = Line2D([], [], color="0.4", label="one seed", linestyle="", **SEED_MARK)
    figure.legend(handles=[*legend_handles(looks), seed], loc="outside upper center", ncols=4)
    return figure, points[[*CONDITION, "measure", "seed", "value", "low", "high", "seeds"]]


def _spread_conditions(gaps: pd.Series) -> np.ndarray:
    """Return x of each condition: conditions with equal gaps are side by side, and none overlap."""
    logs, groups = np.log(gaps), gaps.groupby(gaps)
    spacing = CONDITION_SPACING * (np.ptp(logs) or 1)
    place = groups.cumcount() - (groups.transform("size") - 1) / 2
    return np.exp(spread_labels(logs + spacing * place, spacing, np.inf))


def _marks(ax: Axes, points: pd.DataFrame, marker: str, colour: str) -> None:
    """Draw means with intervals, and seeds."""
    mean = points["seed"].isna()
    means, seeds = points[mean], points[~mean]
    ax.vlines(means["x"], means["low"], means["high"], colour, linewidth=0.9)
    ax.plot(means["x"], means["value"], marker, color=colour, markersize=4.5)
    ax.plot(seeds["x"], seeds["value"], color=colour, linestyle="", **SEED_MARK)


def _set_gap_axis(ax: Axes, gaps: pd.Series) -> None:
    """Set ticks at gaps that are not too close to the previous tick, and margins."""
    low, high = gaps.min() / MARGIN, gaps.max() * MARGIN
    ticks = [gaps.min()]
    for gap in sorted(gaps):
        if np.log(gap / ticks[-1]) > MIN_TICK_SPACING * np.log(high / low):
            ticks.append(gap)
    ax.set_xticks(ticks, [format_number(gap) for gap in ticks])
    ax.set_xticks([], minor=True)
    ax.set_xlim(low, high)
