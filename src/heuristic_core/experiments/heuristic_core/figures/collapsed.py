"""Subnetworks at chance in-domain, wherever they are shown: a cross and legend entry in figures, a count in tables."""

from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from heuristic_core.experiments.heuristic_core.analysis.accuracy import CELLS

CELL = ("step", "sparsity", "ft_seed")
CROSS = {"marker": "x", "color": "black", "linestyle": "", "markersize": 3.5, "markeredgewidth": 0.9}


def collapses(tables, context) -> pd.Series:
    """The share of the curve's subnetworks that collapsed, by fine-tuning seed and step; empty where unknown."""
    rows = tables.get("runs", pd.DataFrame(columns=[*CELLS, "collapsed"]))
    here = rows["seed"].isin(list(context.curve_seeds)) & (rows["repeat"] == context.curve_repeat)
    rows = rows[here]
    return rows["collapsed"].fillna(False).astype(bool).groupby([rows["ft_seed"], rows["step"]]).mean()


def with_counts(rows: pd.DataFrame, tables, seeds: Sequence[int], repeat: int = 0, by: Sequence[str] = CELL):
    """`rows` with a column "collapsed": how many of the subnetworks that share a row's values of `by` collapsed.

    seeds, repeat: of pruning, and which of their runs. Where `rows` have no fine-tuning seed, those of all; 0 without
    table "runs".
    """
    runs = tables.get("runs", pd.DataFrame(columns=[*CELLS, "collapsed"]))
    here = runs["seed"].isin(list(seeds)) & (runs["repeat"] == repeat) & runs["collapsed"].eq(True).fillna(False)
    cells = runs.loc[here, [*by]]
    counts = pd.concat([cells, cells.assign(ft_seed=pd.NA)]).value_counts(dropna=False).rename("collapsed")
    found = rows.astype({"ft_seed": "Int64"})
    found = found.merge(counts.reset_index().astype({"ft_seed": "Int64"}), on=[*by], how="left")
    return found.assign(collapsed=found["collapsed"].fillna(0).astype(int))


def count(n: int | str, collapsed: int) -> str:
    """For instance "12 (3 collapsed)", and "12" where none did."""
    return f"{n} ({collapsed} collapsed)" if collapsed else f"{n}"


def crosses(ax: Axes, x, y) -> None:
    """A cross over each collapsed point. x, y: of these points."""
    ax.plot(x, y, **CROSS, zorder=5)


def crossed(shown: bool, label: str) -> list[Line2D]:
    """The entry of a legend, where a cross is `shown`."""
    return [Line2D([], [], **CROSS, label=label)] if shown else []
