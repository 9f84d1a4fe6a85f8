"""How figures and tables show collapsed subnetworks, at chance in-domain: crosses in figures, counts in tables."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from heuristic_core.experiments.subnetworks.analysis.accuracy import CELL_KEYS
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.figures.drawing import Tables

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

CURVE_KEYS = ("step", "sparsity", "ft_seed")
CROSS_STYLE = {"marker": "x", "color": "black", "linestyle": "", "markersize": 3.5, "markeredgewidth": 0.9}


def compute_collapse_shares(tables: Tables, context: Context) -> pd.Series:
    """Return the share (0 to 1) of the curve's subnetworks that collapsed, by fine-tuning seed and step.

    The series is empty if the study has no table "runs".

    Args:
        tables: Data frames by schema name.
        context: The study's context, with the pruning seeds of the curve.
    """
    rows = tables.get("runs", pd.DataFrame(columns=[*CELL_KEYS, "collapsed"]))
    in_curve = rows["seed"].isin(list(context.curve_seeds)) & (rows["repeat"] == context.curve_repeat)
    rows = rows[in_curve]
    return rows["collapsed"].fillna(False).astype(bool).groupby([rows["ft_seed"], rows["step"]]).mean()


def add_collapsed_counts(
    rows: pd.DataFrame, tables: Tables, seeds: Sequence[int], repeat: int = 0, by: Sequence[str] = CURVE_KEYS
) -> pd.DataFrame:
    """Add column "collapsed" to `rows`: how many of the subnetworks that share a row's values of `by` collapsed.

    Args:
        rows: Rows of a table; those without a fine-tuning seed count the subnetworks of all fine-tuning seeds.
        tables: Data frames by schema name. Without table "runs" all counts are 0.
        seeds: The pruning seeds that count.
        repeat: Number of the run of each pruning seed, from 0.
        by: Columns that identify a cell.
    """
    runs = tables.get("runs", pd.DataFrame(columns=[*CELL_KEYS, "collapsed"]))
    selected = runs["seed"].isin(list(seeds)) & (runs["repeat"] == repeat) & runs["collapsed"].eq(True).fillna(False)
    cells = runs.loc[selected, [*by]]
    counts = pd.concat([cells, cells.assign(ft_seed=pd.NA)]).value_counts(dropna=False).rename("collapsed")
    counted = rows.astype({"ft_seed": "Int64"})
    counted = counted.merge(counts.reset_index().astype({"ft_seed": "Int64"}), on=[*by], how="left")
    return counted.assign(collapsed=counted["collapsed"].fillna(0).astype(int))


def format_count(n: int | str, collapsed: int) -> str:
    """Format a count, such as "12 (3 collapsed)", or "12" if no subnetwork collapsed.

    Args:
        n: The count, as a number or as text.
        collapsed: Number of subnetworks among them that collapsed.
    """
    return f"{n} ({collapsed} collapsed)" if collapsed else f"{n}"


def draw_crosses(ax: Axes, x: "ArrayLike", y: "ArrayLike") -> None:
    """Draw a cross over each collapsed point.

    Args:
        ax: Panel.
        x: Horizontal coordinates of the collapsed points, [n].
        y: Their vertical coordinates, [n].
    """
    ax.plot(x, y, **CROSS_STYLE, zorder=5)


def make_cross_handles(drawn: bool, label: str) -> list[Line2D]:
    """Return the legend entries of the crosses: one if a cross is drawn, else none.

    Args:
        drawn: Whether a cross is drawn.
        label: Text of the entry.
    """
    return [Line2D([], [], **CROSS_STYLE, label=label)] if drawn else []
