"""What ablating the core costs against settings in which studies differ: a row for each setting, a column for each group."""

import pandas as pd

from heuristic_core.analysis.sweep import GROUPS, sweep
from heuristic_core.figures.lines import handles, lines
from heuristic_core.figures.panels import panels
from heuristic_core.figures.roles import ROLES, Role

LOOKS = {
    "full": Role("all that there is to lose", "0.6", line=":"),
    "random": Role("random sets of the same layers, mean", "#999999", "s", "--"),
    "change": Role("without the core", "black", "o"),
}


def draw(tables, settings, studies):
    """tables: "ablations" of every study. studies: their values on every axis. Marks: the rows of :func:`sweep`.

    Lines: means over fine-tuning seeds. Points without a line: the seeds, with their intervals.
    """
    rows = sweep(tables, studies)
    axes_names = list(dict.fromkeys(rows["axis"]))
    figure, axes = panels(
        settings, len(axes_names), len(GROUPS), 1.9 * len(axes_names) + 0.4, sharey=True, sharex="row"
    )
    for line, axis in zip(axes, axes_names, strict=True):
        of_axis = rows[rows["axis"] == axis]
        for ax, group in zip(line, GROUPS, strict=True):
            _panel(ax, of_axis[of_axis["group"] == group])
            ax.set_title(ROLES[group].label, loc="left")
            ax.set(xlabel=axis, ylabel="change (points)")
            ax.label_outer() if ax is not line[0] else None
            ax.set_xlabel(axis)
    looks = {name: look for name, look in LOOKS.items()}
    figure.legend(handles=handles(looks), loc="outside upper center", ncols=len(looks))
    return figure, rows


def _panel(ax, rows: pd.DataFrame) -> None:
    values = rows.assign(full=-rows["full"])
    known = values.dropna(subset="change")
    ax.axhline(0, color="0.8", linewidth=0.6, zorder=0)
    means = values.groupby("value")[[*LOOKS]].mean().reset_index()
    long = means.melt("value", var_name="kind", value_name="change")
    lines(ax, long, "value", "change", "kind", {name: look._replace(marker="") for name, look in LOOKS.items()})
    for name in ("random", "change"):
        look = LOOKS[name]
        ax.plot(known["value"], known[name], look.marker, color=look.colour, markersize=3)
    ax.vlines(known["value"], known["low"], known["high"], color=LOOKS["change"].colour, linewidth=0.8)
