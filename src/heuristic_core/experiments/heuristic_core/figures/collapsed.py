"""Subnetworks at chance in-domain, wherever a figure shows them: a cross, and a legend entry where there is one."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from heuristic_core.experiments.heuristic_core.analysis.accuracy import CELLS

CROSS = {"marker": "x", "color": "black", "linestyle": "", "markersize": 3.5, "markeredgewidth": 0.9}


def collapses(tables, context) -> pd.Series:
    """The share of the curve's subnetworks that collapsed, by fine-tuning seed and step; empty where unknown."""
    rows = tables.get("runs", pd.DataFrame(columns=[*CELLS, "collapsed"]))
    here = rows["seed"].isin(list(context.curve_seeds)) & (rows["repeat"] == context.curve_repeat)
    rows = rows[here]
    return rows["collapsed"].fillna(False).astype(bool).groupby([rows["ft_seed"], rows["step"]]).mean()


def crosses(ax: Axes, x, y) -> None:
    """A cross over each collapsed point. x, y: of these points."""
    ax.plot(x, y, **CROSS, zorder=5)


def crossed(shown: bool, label: str) -> list[Line2D]:
    """The entry of a legend, where a cross is `shown`."""
    return [Line2D([], [], **CROSS, label=label)] if shown else []
