"""Figure 10: the full model's accuracy over fine-tuning, subset by subset, and its J and AUC."""

from itertools import cycle

import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes

from heuristic_core.experiments.subnetworks.analysis.accuracy import AUC
from heuristic_core.experiments.subnetworks.analysis.names import subset_label
from heuristic_core.experiments.subnetworks.figures.roles import ROLES, group_label
from heuristic_core.experiments.subnetworks.figures.rows import (
    SUMMARY_GROUPS,
    average_j,
    average_subsets,
    ft_seeds,
    map_subset_groups,
    require_rows,
    resolve_subsets,
)
from heuristic_core.figures.lines import draw_lines
from heuristic_core.figures.panels import make_panels, set_percent_axis, spread_labels
from heuristic_core.figures.roles import Role
from heuristic_core.figures.style import SMALL_FONT_SIZE
from heuristic_core.figures.text import format_interval, format_number, format_seed

LINESTYLES = ("-", "--", "-.", ":")
GROUP_NAMES = {group: group_label(group) for group in SUMMARY_GROUPS}
BOLD = {name: ROLES[group]._replace(marker="") for group, name in GROUP_NAMES.items()}
LABEL_HEIGHT = 0.125  # inches from one label to the next


def draw(tables, settings, context):
    """Draw a panel for each fine-tuning seed.

    Args:
        tables: Data frames by schema name: "finetune_accuracy".
        settings: The target's ``config.figure.Figure``.
        context: The study's ``config.context.Context``.

    Returns:
        The figure and its marks, one row per point; `subset` is null for the mean of a group.
    """
    trace = require_rows(tables["finetune_accuracy"], "rows in table finetune_accuracy")
    means = trace[trace["subset"].isna()]  # computed as those of table 7
    groups = map_subset_groups(trace, resolve_subsets(settings, context))
    trace = trace[trace["subset"].isin(list(groups))]
    ood = [subset for subset, group in groups.items() if group == "ood"]
    dark = sns.color_palette("YlOrBr", 2 * len(ood))[len(ood) :]
    styles = zip(ood, dark, cycle(LINESTYLES), strict=False)
    thin = {subset_label(subset): Role(subset, colour, line=line) for subset, colour, line in styles}
    auc = means[means["group"] == AUC]
    if settings.subsets or len(auc) == len(means):  # other subsets than those of the analysis, or published results
        averages = [average_subsets(trace, ["ft_seed", "step", "group"]), average_j(trace, ["ft_seed", "step"])]
        means = pd.concat([*averages, auc])
    points = pd.concat([trace[trace["subset"].isin(ood)], means]).sort_values("step", kind="stable")
    points["name"] = points["subset"].map(subset_label, na_action="ignore").fillna(points["group"].map(GROUP_NAMES))
    seeds = ft_seeds(points)
    height = max(1.9, LABEL_HEIGHT * points["name"].nunique())
    figure, axes = make_panels(settings, len(seeds), 1, len(seeds) * (height + 0.3) + 0.3, sharex=True)
    for ax, ft_seed in zip(axes[:, 0], seeds, strict=True):
        _draw_panel(ax, points[points["ft_seed"] == ft_seed], thin, spacing=106 * LABEL_HEIGHT / height)
        ax.set_title(format_seed(ft_seed), loc="left")
        ax.set_ylabel("accuracy and AUC (%), J (points)")
    axes[-1, 0].set_xlabel("fine-tuning step")
    return figure, points[["ft_seed", "step", "subset", "group", "n", "accuracy", "low", "high", "unit"]]


def _draw_panel(ax: Axes, points: pd.DataFrame, thin: dict[str, Role], spacing: float) -> None:
    """Draw thin lines for OOD subsets and bold lines for groups, each named at its right end."""
    draw_lines(ax, points, "step", "accuracy", "name", thin, linewidth=0.8)
    draw_lines(ax, points, "step", "accuracy", "name", BOLD, linewidth=2)
    set_percent_axis(ax.yaxis, points["accuracy"])
    last_points = points.dropna(subset="accuracy").drop_duplicates("name", keep="last").set_index("name")
    ends = last_points.loc[[name for name in thin | BOLD if name in last_points.index]]
    heights = spread_labels(ends["accuracy"], spacing, high=103)
    for (name, end), height in zip(ends.iterrows(), heights, strict=True):
        label = f"{name}  {format_number(end['accuracy'], 0)}{format_interval(end['low'], end['high'], 0)}"
        _write_name(ax, label, (end["step"], end["accuracy"]), height, (thin | BOLD)[name].colour, name in BOLD)
    ax.set_xlim(max(ax.get_xlim()[0], 0), points["step"].max())


def _write_name(ax: Axes, label: str, end: tuple[float, float], height: float, colour, bold: bool) -> None:
    """Write a name to the right of the axes, with a leader to the end of its line."""
    leader = {"arrowstyle": "-", "color": colour, "linewidth": 0.5, "shrinkA": 1, "shrinkB": 1, "relpos": (0, 0.5)}
    ax.annotate(
        label, end, (1.05, height), textcoords=ax.get_yaxis_transform(), va="center", color=colour,
        fontsize=SMALL_FONT_SIZE, weight="bold" if bold else "normal", arrowprops=leader, annotation_clip=False,
    )  # fmt: skip
