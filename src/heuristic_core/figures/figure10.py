"""Figure 10: the full model's accuracy over fine-tuning, subset by subset."""

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from heuristic_core.analysis.accuracy import interval_of_mean
from heuristic_core.figures.panels import panels, percent_axis, spread_out
from heuristic_core.figures.roles import ROLES
from heuristic_core.figures.rows import GROUPS, ft_seeds, shown, some, subset_groups
from heuristic_core.figures.style import SMALL
from heuristic_core.figures.text import bracket, number, seed_label

LINES = ("-", "--", "-.", ":")
LABEL_HEIGHT = 0.125  # inches from one label to the next


def draw(tables, settings, context):
    """Rows: fine-tuning seeds. Marks: one row per point; subset is null for the mean of a group."""
    trace = some(tables["finetune_accuracy"], "rows in table finetune_accuracy")
    groups = subset_groups(trace, shown(settings, context))
    trace = trace[trace["subset"].isin(list(groups))]
    ood = [subset for subset, group in groups.items() if group == "ood"]
    lines = pd.concat([trace[trace["subset"].isin(ood)], _group_means(trace)]).sort_values("step", kind="stable")
    seeds = ft_seeds(lines)
    labels = len(ood) + lines["group"].nunique()
    height = max(1.9, LABEL_HEIGHT * labels)
    figure, axes = panels(settings, len(seeds), 1, len(seeds) * (height + 0.3) + 0.3, sharex=True)
    for ax, ft_seed in zip(axes[:, 0], seeds, strict=True):
        _panel(ax, lines[lines["ft_seed"] == ft_seed], ood, spacing=106 * LABEL_HEIGHT / height)
        ax.set_title(seed_label(ft_seed), loc="left")
        ax.set_ylabel("accuracy (%)")
    axes[-1, 0].set_xlabel("fine-tuning step")
    return figure, lines[["ft_seed", "step", "subset", "group", "n", "accuracy", "low", "high", "unit"]]


def _group_means(trace: pd.DataFrame) -> pd.DataFrame:
    """The unweighted mean of each group with its interval, missing where a subset's value is."""
    rows = []
    for (ft_seed, step, group), subsets in trace.groupby(["ft_seed", "step", "group"]):
        low, high = interval_of_mean(subsets)
        mean = subsets["accuracy"].mean(skipna=False)
        rows.append({"ft_seed": ft_seed, "step": step, "group": group, "accuracy": mean, "low": low, "high": high})
    return pd.DataFrame(rows)


def _panel(ax: Axes, lines: pd.DataFrame, ood: list[str], spacing: float) -> None:
    """Thin lines for out-of-domain subsets, bold ones for the groups, each named at its right end."""
    colours = matplotlib.colormaps["YlOrBr"](np.linspace(0.5, 1.0, max(len(ood), 1)))
    ends = []
    for k, (subset, colour) in enumerate(zip(ood, colours, strict=False)):
        style = {"color": colour, "linestyle": LINES[k % len(LINES)], "linewidth": 0.8}
        ends.append(_line(ax, lines[lines["subset"] == subset], subset, style))
    means = lines[lines["subset"].isna()]
    for group in GROUPS:
        role = ROLES[group]
        style = {"color": role.colour, "linestyle": role.line, "linewidth": 2}
        ends.append(_line(ax, means[means["group"] == group], f"{role.label}, mean", style, weight="bold"))
    percent_axis(ax.yaxis)
    _names(ax, [end for end in ends if end], spacing)


def _line(ax: Axes, rows: pd.DataFrame, name: str, style: dict, weight: str = "normal"):
    """Draw one line, broken where a value is missing. Returns its end: (x, y, its label, colour, weight)."""
    ax.plot(rows["step"].astype(float), rows["accuracy"], **style)
    known = rows.dropna(subset="accuracy")
    if known.empty:
        return None
    last = known.iloc[-1]
    label = f"{name}  {number(last['accuracy'], 0)}{bracket(last['low'], last['high'], 0)}"
    return float(last["step"]), last["accuracy"], label, style["color"], weight


def _names(ax: Axes, ends: list[tuple], spacing: float) -> None:
    """Names right of the axes, led to their lines' ends."""
    heights = spread_out([end[1] for end in ends], spacing, high=103)
    right = {"textcoords": ax.get_yaxis_transform(), "va": "center", "fontsize": SMALL, "annotation_clip": False}
    for (x, y, name, colour, weight), height in zip(ends, heights, strict=True):
        leader = {"arrowstyle": "-", "color": colour, "linewidth": 0.5, "shrinkA": 1, "shrinkB": 1, "relpos": (0, 0.5)}
        ax.annotate(name, (x, y), (1.05, height), color=colour, weight=weight, arrowprops=leader, **right)
    first, last = ax.get_xlim()
    ax.set_xlim(max(first, 0), max(end[0] for end in ends) if ends else last)
