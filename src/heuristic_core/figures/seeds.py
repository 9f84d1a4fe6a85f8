"""Values of each seed and means over seeds."""

from collections.abc import Callable, Mapping, Sequence

import pandas as pd
from matplotlib.axes import Axes

from heuristic_core.figures.lines import draw_lines
from heuristic_core.figures.roles import Role
from heuristic_core.stats.means import UNLIMITED, mean_interval

MIN_INTERVAL_SEEDS = 3  # for intervals in figures
SEED_LINE_STYLE, MEAN_LINE_STYLE = (
    {"linewidth": 0.5, "alpha": 0.5, "markersize": 1.5},
    {"linewidth": 1.4, "markersize": 3.5},
)


def append_means(
    rows: pd.DataFrame, by: Sequence[str], limits: Callable[[str], tuple[float, float]] | None = None
) -> pd.DataFrame:
    """Append means over seeds.

    Args:
        rows: Columns `by`, seed and value.
        by: Columns that identify what a mean is of.
        limits: Smallest and largest possible value, as a function of the last column of `by`; default: none.

    Returns:
        Columns `by`, seed, value, low, high, seeds: the rows, then the means with a null seed. A mean is over the
        seeds with a value, whose number is `seeds`; low and high are its 95 % interval
        (:func:`heuristic_core.stats.means.mean_interval`), null for fewer than two seeds.
    """
    by = list(by)
    rows = rows[[*by, "seed", "value"]].astype({"seed": "Int64", "value": float})
    means = []
    for key, group in rows.groupby(by, sort=False, dropna=False):
        values = group["value"].dropna()
        mean, low, high = mean_interval(values, limits(key[-1]) if limits else UNLIMITED)
        means.append(dict(zip(by, key, strict=True)) | {"value": mean, "low": low, "high": high, "seeds": len(values)})
    table = pd.concat([rows, pd.DataFrame(means, columns=[*by, "value", "low", "high", "seeds"])], ignore_index=True)
    return table.astype({"seeds": "Int64"})


def drop_few_seeds(points: pd.DataFrame) -> pd.DataFrame:
    """Remove the intervals of fewer than `MIN_INTERVAL_SEEDS` seeds from rows of :func:`append_means`.

    The interval of two seeds reaches 12.7 times as far as the seeds themselves.
    """
    few = points["seeds"].lt(MIN_INTERVAL_SEEDS).fillna(True).astype(bool)
    return points.assign(**{end: points[end].mask(few) for end in ("low", "high")})


def draw_seed_lines(ax: Axes, rows: pd.DataFrame, x: str, by: str, roles: Mapping[str, Role]) -> None:
    """Draw a thin line for each seed and a thick line for the mean, broken where a value is null.

    Args:
        ax: Axes to draw on.
        rows: Rows of :func:`append_means`.
        x: Column of the horizontal axis.
        by: Column that determines the look.
        roles: Value of `by` -> look.
    """
    is_mean = rows["seed"].isna()
    line = rows[by] + " " + rows["seed"].astype("string").fillna("mean")
    rows = rows.assign(line=line.astype(object), **{x: rows[x].astype(float)})
    for line_rows, style in ((rows[~is_mean], SEED_LINE_STYLE), (rows[is_mean], MEAN_LINE_STYLE)):
        draw_lines(ax, line_rows, x, "value", by, roles, unit="line", **style)
