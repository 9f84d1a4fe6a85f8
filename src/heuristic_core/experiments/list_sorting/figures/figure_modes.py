"""In which mode heads end, against the mean gap between neighbours of a sorted list."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from heuristic_core.experiments.list_sorting.figures.ends import at_end
from heuristic_core.experiments.list_sorting.figures.looks import COLOURS, MARKERS
from heuristic_core.figures.lines import handles
from heuristic_core.figures.panels import spread_out, wrapped
from heuristic_core.figures.roles import Role
from heuristic_core.figures.seeds import with_means
from heuristic_core.figures.text import number

MEASURES = {
    "splitting": "vocabulary splitting",
    "suppression": "copy suppression, highest of the heads",
    "opposite_sign": "numbers of opposite sign in two heads",
    "soft_overlap": "soft overlap",
}
DATA, TRAINING = ["numbers", "length"], ["optimiser", "weight_decay", "heads"]
CONDITION = ["condition", *DATA, "mean_gap", *TRAINING]
NAMES = {"adam-l2": "L2", "adamw": "AdamW", "adam": "no decay"}
BESIDE = 0.03  # between conditions of one gap, of the axis
TICKS = 0.06  # between ticks, at least, of the axis
ROOM = 1.15  # beside the smallest and the largest gap, as a factor


def draw(tables, settings):
    """A panel for each measure, at the end of training. Marks: one row per point, of a seed or, with a null seed, of
    their mean."""
    models = at_end(tables)
    models = models.assign(data=_data(models), training=_training(models))
    named = models[[*CONDITION, "data", "training"]].drop_duplicates()
    values = models.melt(["condition", "seed"], list(MEASURES), "measure", "value")
    points = with_means(values, ["condition", "measure"])
    points = points.merge(named.assign(x=_beside(named["mean_gap"])), on="condition", validate="many_to_one")
    shapes = {one: Role(one, "0.4", MARKERS[k % len(MARKERS)], "") for k, one in enumerate(named["data"].unique())}
    colours = {one: Role(one, COLOURS[k % len(COLOURS)], "_", "") for k, one in enumerate(named["training"].unique())}
    figure, axes = wrapped(settings, len(MEASURES), 2.1, sharex=True, sharey=True)
    for ax, (measure, label) in zip(axes, MEASURES.items(), strict=True):
        for (data, training), own in points[points["measure"] == measure].groupby(["data", "training"], sort=False):
            _marks(ax, own, shapes[data].marker, colours[training].colour)
        ax.set_title(label, loc="left")
        ax.set(xlabel="mean gap between neighbours", ylabel="score (0-1)")
        ax.label_outer()
    axes[0].set(xscale="log", ylim=(-0.04, 1.04))
    _gaps(axes[0], named["mean_gap"])
    entries = [*handles(shapes), *handles(colours, markeredgewidth=2)]
    figure.legend(handles=entries, loc="outside upper center", ncols=3)
    return figure, points[[*CONDITION, "measure", "seed", "value", "low", "high", "seeds"]]


def _data(models: pd.DataFrame) -> list[str]:
    return [f"{row.numbers} numbers, length {row.length}" for row in models[DATA].itertuples()]


def _training(models: pd.DataFrame) -> list[str]:
    found = []
    for row in models[TRAINING].itertuples():
        amount = f" {row.weight_decay:g}" if row.weight_decay else ""
        found.append(f"{NAMES[row.optimiser]}{amount}, {row.heads} head{'' if row.heads == 1 else 's'}")
    return found


def _beside(gaps: pd.Series) -> np.ndarray:
    """Where conditions are drawn: those of one gap side by side, and none over another one."""
    logs, same = np.log(gaps), gaps.groupby(gaps)
    apart = BESIDE * (np.ptp(logs) or 1)
    place = same.cumcount() - (same.transform("size") - 1) / 2
    return np.exp(spread_out(logs + apart * place, apart, np.inf))


def _marks(ax: Axes, points: pd.DataFrame, marker: str, colour: str) -> None:
    mean = points["seed"].isna()
    means, seeds = points[mean], points[~mean]
    ax.vlines(means["x"], means["low"], means["high"], colour, linewidth=0.9)
    ax.plot(means["x"], means["value"], marker, color=colour, markersize=4.5)
    ax.plot(seeds["x"], seeds["value"], "_", color=colour, markersize=5, markeredgewidth=0.6)


def _gaps(ax: Axes, gaps: pd.Series) -> None:
    """A tick at every gap that is not too near the one before, and room beside the outermost."""
    low, high = gaps.min() / ROOM, gaps.max() * ROOM
    ticks = [gaps.min()]
    for gap in sorted(gaps):
        if np.log(gap / ticks[-1]) > TICKS * np.log(high / low):
            ticks.append(gap)
    ax.set_xticks(ticks, [number(gap) for gap in ticks])
    ax.set_xticks([], minor=True)
    ax.set_xlim(low, high)
