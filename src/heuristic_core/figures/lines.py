"""Lines of values and bands of intervals. Both are computed before; seaborn estimates nothing."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from heuristic_core.figures.roles import Role

# matplotlib's line styles for seaborn: lengths of dashes and gaps, in line widths.
DASHES = {"-": "", "--": (3.7, 1.6), "-.": (6.4, 1.6, 1, 1.6), ":": (1, 1.65)}
DASHES |= {(0, dashes): dashes for dashes in ((6.4, 1.6, 1, 1.6, 1, 1.6),)}  # a dash and two dots


def draw_lines(
    ax: Axes,
    rows: pd.DataFrame,
    x: str,
    y: str,
    by: str,
    roles: Mapping[str, Role],
    unit: str | None = None,
    **options: Any,
) -> None:
    """Draw a line for each value of column `by`, broken where `y` is null.

    Args:
        ax: Axes to draw on.
        rows: Values.
        x: Column of the horizontal axis.
        y: Column of the vertical axis.
        by: Column that determines the look.
        roles: Value of `by` -> look, lowest line first; either all or none with a marker. Other rows are left out.
        unit: Column that separates lines of the same look.
        **options: Passed to ``Axes.plot``.
    """
    rows = rows[rows[by].isin(list(roles))].reset_index(drop=True)
    if rows.empty:
        return  # seaborn would warn about an unused palette
    gaps = rows[y].isna().groupby(rows[unit or by]).cumsum()
    markers = {key: look.marker for key, look in roles.items() if look.marker}
    sns.lineplot(
        rows.assign(piece=rows.groupby([unit or by, gaps]).ngroup()), x=x, y=y, units="piece", estimator=None,
        hue=by, hue_order=list(roles), palette={key: look.colour for key, look in roles.items()},
        style=by, style_order=list(roles), dashes={key: DASHES[look.line] for key, look in roles.items()},
        markers=markers or None, markeredgecolor="auto", legend=False, ax=ax, **options,
    )  # fmt: skip


def draw_bands(ax: Axes, rows: pd.DataFrame, x: str, by: str, roles: Mapping[str, Role], alpha: float = 0.2) -> None:
    """Fill a band from column `low` to column `high` for each value of column `by`, broken at nulls.

    Args:
        ax: Axes to draw on.
        rows: Values.
        x: Column of the horizontal axis.
        by: Column that determines the look.
        roles: Value of `by` -> look.
        alpha: Opacity.
    """
    for key, look in roles.items():
        band = rows[rows[by] == key]
        ax.fill_between(band[x], band["low"], band["high"], color=look.colour, alpha=alpha, linewidth=0)


def legend_handles(roles: Mapping[str, Role], **options: Any) -> list[Line2D]:
    """Make legend handles, one for each look; `options` are passed to ``Line2D``."""
    return [
        Line2D([], [], color=look.colour, marker=look.marker, linestyle=look.line, label=look.label, **options)
        for look in roles.values()
    ]
