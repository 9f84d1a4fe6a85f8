"""Lines of values with their intervals. Both are computed before: seaborn draws, and estimates nothing."""

from collections.abc import Mapping

import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from heuristic_core.figures.roles import Role

# What seaborn draws for matplotlib's names: lengths of dashes and gaps, in widths of the line.
DASHES = {"-": "", "--": (3.7, 1.6), "-.": (6.4, 1.6, 1, 1.6), ":": (1, 1.65)}


def lines(
    ax: Axes, rows: pd.DataFrame, x: str, y: str, by: str, looks: Mapping[str, Role], unit: str | None = None, **options
) -> None:
    """Draw column `y` of `rows` against column `x`, a line for each value of column `by`, broken where `y` is null.

    looks: by value of `by`, the lowest line first; other rows are left out. All have a marker, or none has.
    unit: the column that tells lines of one look apart. options: as of ``Axes.plot``.
    """
    rows = rows[rows[by].isin(list(looks))].reset_index(drop=True)
    if rows.empty:
        return  # seaborn would warn of a palette without use
    gaps = rows[y].isna().groupby(rows[unit or by]).cumsum()
    markers = {key: look.marker for key, look in looks.items() if look.marker}
    sns.lineplot(
        rows.assign(piece=rows.groupby([unit or by, gaps]).ngroup()), x=x, y=y, units="piece", estimator=None,
        hue=by, hue_order=list(looks), palette={key: look.colour for key, look in looks.items()},
        style=by, style_order=list(looks), dashes={key: DASHES[look.line] for key, look in looks.items()},
        markers=markers or None, markeredgecolor="auto", legend=False, ax=ax, **options,
    )  # fmt: skip


def bands(ax: Axes, rows: pd.DataFrame, x: str, by: str, looks: Mapping[str, Role], alpha: float = 0.2) -> None:
    """Fill from column `low` to column `high` of `rows`, a band for each value of column `by`, broken at nulls."""
    for key, look in looks.items():
        band = rows[rows[by] == key]
        ax.fill_between(band[x], band["low"], band["high"], color=look.colour, alpha=alpha, linewidth=0)


def handles(looks: Mapping[str, Role], **options) -> list[Line2D]:
    """What a legend shows for `looks`. options: as of ``Axes.plot``."""
    return [
        Line2D([], [], color=look.colour, marker=look.marker, linestyle=look.line, label=look.label, **options)
        for look in looks.values()
    ]
