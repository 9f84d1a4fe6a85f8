"""Fine-tuning without the heads that attend to the repeated word before it, beside fine-tuning without random ones."""

from typing import NamedTuple

import pandas as pd
from matplotlib.axes import Axes

from heuristic_core.analysis.accuracy import chosen, interval_of_mean
from heuristic_core.config.lesion import OVERLAP
from heuristic_core.figures.panels import panels, percent_axis
from heuristic_core.figures.roles import ROLES
from heuristic_core.figures.rows import GROUPS, ft_seeds, shown, some
from heuristic_core.figures.text import seed_label


class Line(NamedTuple):
    """How a kind of model looks. band: whether its interval is drawn."""

    label: str
    colour: str
    style: str
    width: float
    band: bool


WHOLE, RANDOM = "none", "random"
LINES = {  # Okabe and Ito's palette, without the colours of groups of subsets; the first is drawn lowest
    RANDOM: Line("without random heads (a line for each set)", "#999999", "-", 0.9, False),
    WHOLE: Line("all heads", "black", "-", 1.8, True),
    OVERLAP: Line("without overlap heads", "#CC79A7", "--", 1.8, True),
}


def draw(tables, settings, context):
    """Rows: fine-tuning seeds; columns: groups of subsets. Marks: one row per point, the unweighted mean over subsets.

    lesion: "none" for the model with all heads. size: heads taken out. The interval of a mean follows from those of its
    subsets.
    """
    whole = some(tables["finetune_accuracy"], "rows in table finetune_accuracy").assign(lesion=WHOLE, size=0)
    rows = chosen(pd.concat([whole, tables["lesion_accuracy"]]), shown(settings, context))
    points = _means(rows[rows["group"].isin(GROUPS)])
    seeds = ft_seeds(points)
    figure, axes = panels(settings, len(seeds), len(GROUPS), 1.9 * len(seeds) + 0.5, sharex=True, sharey=True)
    for row, ft_seed in zip(axes, seeds, strict=True):
        of_seed = points[points["ft_seed"] == ft_seed]
        for ax, group in zip(row, GROUPS, strict=True):
            _panel(ax, of_seed[of_seed["group"] == group])
            ax.set_title(ROLES[group].label, loc="left")
        row[0].set_title(f"{seed_label(ft_seed)}{_taken(of_seed)}: {ROLES[GROUPS[0]].label}", loc="left")
        row[0].set_ylabel("accuracy (%)")
    for ax in axes[-1]:
        ax.set_xlabel("fine-tuning step")
    handles = {label: line for ax in axes.flat for line, label in zip(*ax.get_legend_handles_labels(), strict=True)}
    figure.legend(handles.values(), handles, loc="outside upper center", ncols=len(handles))
    return figure, points


def _means(rows: pd.DataFrame) -> pd.DataFrame:
    """The mean of each group at each evaluation of each model, with its interval."""
    found = []
    for (ft_seed, lesion, size, step, group), subsets in rows.groupby(["ft_seed", "lesion", "size", "step", "group"]):
        low, high = interval_of_mean(subsets)
        mean = subsets["accuracy"].mean(skipna=False)
        identity = {"ft_seed": ft_seed, "lesion": lesion, "size": size, "step": step, "group": group}
        found.append(identity | {"subsets": len(subsets), "accuracy": mean, "low": low, "high": high})
    return pd.DataFrame(found)


def _taken(points: pd.DataFrame) -> str:
    """How many heads were taken out, for a title."""
    sizes = points.loc[points["lesion"] == OVERLAP, "size"]
    return f", {sizes.iloc[0]} heads out" if len(sizes) else ", no such set of heads"


def _panel(ax: Axes, points: pd.DataFrame) -> None:
    for kind, (label, colour, style, width, band) in LINES.items():
        for _, line in points[points["lesion"].str.startswith(kind)].groupby("lesion"):
            x = line["step"].astype(float)
            if band:
                ax.fill_between(x, line["low"], line["high"], color=colour, alpha=0.15, linewidth=0)
            ax.plot(x, line["accuracy"], color=colour, linestyle=style, linewidth=width, label=label)
    percent_axis(ax.yaxis)
