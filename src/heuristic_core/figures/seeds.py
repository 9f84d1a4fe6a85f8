"""Values of every seed, and their means over seeds."""

from collections.abc import Mapping, Sequence

import pandas as pd
from matplotlib.axes import Axes

from heuristic_core.analysis.seeds import mean_interval
from heuristic_core.figures.lines import lines
from heuristic_core.figures.roles import Role

THIN, BOLD = {"linewidth": 0.5, "alpha": 0.5, "markersize": 1.5}, {"linewidth": 1.4, "markersize": 3.5}


def with_means(rows: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """`rows`, which have a value for each seed, then their means, with a null seed.

    by: columns whose values are not pooled. Columns are `by`, seed, value, low, high, seeds. A mean is over the seeds
    that have a value; `seeds` is how many. low, high: its 95 % interval (Student's t), null for fewer than two seeds.
    """
    by = list(by)
    rows = rows[[*by, "seed", "value"]].astype({"seed": "Int64", "value": float})
    means = []
    for key, group in rows.groupby(by, sort=False, dropna=False):
        values = group["value"].dropna()
        mean, low, high = mean_interval(values)
        means.append(dict(zip(by, key, strict=True)) | {"value": mean, "low": low, "high": high, "seeds": len(values)})
    table = pd.concat([rows, pd.DataFrame(means, columns=[*by, "value", "low", "high", "seeds"])], ignore_index=True)
    return table.astype({"seeds": "Int64"})


def seed_lines(ax: Axes, rows: pd.DataFrame, x: str, by: str, looks: Mapping[str, Role]) -> None:
    """A thin line for each seed and one for their mean, of `value` against column `x`, by the values of column `by`.

    rows: as of :func:`with_means`; lines are broken where a value is null.
    """
    mean = rows["seed"].isna()
    line = rows[by] + " " + rows["seed"].astype("string").fillna("mean")
    rows = rows.assign(line=line.astype(object), **{x: rows[x].astype(float)})
    for chosen, width in ((rows[~mean], THIN), (rows[mean], BOLD)):
        lines(ax, chosen, x, "value", by, looks, unit="line", **width)
