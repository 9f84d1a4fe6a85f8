"""Subnetworks at chance in-domain, wherever a figure shows them: a cross, and a legend entry where there is one."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from heuristic_core.analysis.accuracy import CELLS

CROSS = {"marker": "x", "color": "black", "linestyle": "", "markersize": 3.5, "markeredgewidth": 0.9}


def with_collapses(rows: pd.DataFrame, tables) -> pd.DataFrame:
    """`rows` of subnetworks with a column "collapsed", from table "runs"; False where a study has no such table."""
    if tables.get("runs") is None:
        return rows.assign(collapsed=False)
    known = tables["runs"][[*CELLS, "collapsed"]]
    found = rows.merge(known, on=CELLS, how="left")
    return found.assign(collapsed=found["collapsed"].eq(True).fillna(False).astype(bool))


def collapses(tables, context) -> pd.Series:
    """The share of the curve's subnetworks that collapsed, by fine-tuning seed and step; empty where unknown."""
    rows = with_collapses(tables.get("runs", pd.DataFrame(columns=CELLS))[CELLS], tables)
    here = rows["seed"].isin(list(context.curve_seeds)) & (rows["repeat"] == context.curve_repeat)
    return rows[here].groupby(["ft_seed", "step"])["collapsed"].mean()


def crosses(ax: Axes, x, y) -> None:
    """A cross over each collapsed point."""
    ax.plot(x, y, **CROSS, zorder=5)


def crossed(shown: bool, label: str) -> list[Line2D]:
    """The entry of a legend, where any cross is shown."""
    return [Line2D([], [], **CROSS, label=label)] if shown else []
