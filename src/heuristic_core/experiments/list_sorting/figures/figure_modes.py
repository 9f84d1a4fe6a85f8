"""Modes of heads at the end of training, against the mean gap between neighbours of a sorted list."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from heuristic_core.config.figure import Figure
from heuristic_core.experiments.list_sorting.figures.final_models import select_final_models
from heuristic_core.experiments.list_sorting.figures.styles import MARKERS, TRAININGS
from heuristic_core.figures.drawing import Drawing, Tables
from heuristic_core.figures.lines import legend_handles
from heuristic_core.figures.panels import make_wrapped_panels, spread_labels
from heuristic_core.figures.roles import Role
from heuristic_core.figures.seeds import append_means, drop_few_seeds
from heuristic_core.figures.text import format_number

MEASURES = {
    "splitting": "vocabulary splitting",
    "suppression": "copy suppression, highest of the heads",
    "opposite_sign": "numbers of opposite sign in two heads",
    "soft_overlap": "soft overlap",
}
DATA, TRAINING = ["numbers", "length"], ["optimiser", "weight_decay", "heads"]
CONDITION = ["condition", *DATA, "mean_gap", *TRAINING]
NAMES = {"adam-l2": "L2", "adamw": "AdamW", "adam": "no decay"}
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
    models = models.assign(data=_data(models), training=_training(models))
    condition_rows = models[[*CONDITION, "data", "training"]].drop_duplicates()
    values = models.melt(["condition", "seed"], list(MEASURES), "measure", "value")
    points = drop_few_seeds(append_means(values, ["condition", "measure"]))
    points = points.merge(
        condition_rows.assign(x=_spread_conditions(condition_rows["mean_gap"])), on="condition", validate="many_to_one"
    )
    shapes = {
        text: Role(text, "0.4", MARKERS[k % len(MARKERS)], "") for k, text in enumerate(condition_rows["data"].unique())
    }
    colours = {
        text: Role(text, TRAININGS[k % len(TRAININGS)], "_", "")
        for k, text in enumerate(condition_rows["training"].unique())
    }
    figure, axes = make_wrapped_panels(settings, len(MEASURES), 2.1, sharex=True, sharey=True)
    for ax, (measure, label) in zip(axes, MEASURES.items(), strict=True):
        for (data, training), group in points[points["measure"] == measure].groupby(["data", "training"], sort=False):
            _marks(ax, group, shapes[data].marker, colours[training].colour)
        ax.set_title(label, loc="left")
        ax.set(xlabel="mean gap between neighbours", ylabel="score (0-1)")
        ax.label_outer()
    axes[0].set(xscale="log", ylim=(-0.04, 1.04))
    _set_gap_axis(axes[0], condition_rows["mean_gap"])
    seed = Line2D([], [], color="0.4", label="one seed", linestyle="", **SEED_MARK)
    entries = [*legend_handles(shapes), *legend_handles(colours, markeredgewidth=2.5), seed]
    figure.legend(handles=entries, loc="outside upper center", ncols=3)
    return figure, points[[*CONDITION, "measure", "seed", "value", "low", "high", "seeds"]]


def _data(models: pd.DataFrame) -> list[str]:
    """Return a label of every model's data."""
    return [f"{row.numbers} numbers, length {row.length}" for row in models[DATA].itertuples()]


def _training(models: pd.DataFrame) -> list[str]:
    """Return a label of every model's training."""
    labels = []
    for row in models[TRAINING].itertuples():
        amount = f" {row.weight_decay:g}" if row.weight_decay else ""
        labels.append(f"{NAMES[row.optimiser]}{amount}, {row.heads} head{'' if row.heads == 1 else 's'}")
    return labels


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
