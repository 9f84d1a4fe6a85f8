"""Figure 10: the full model's accuracy over fine-tuning, family by family, and its means, J and AUC."""

from itertools import cycle

import pandas as pd
from matplotlib.axes import Axes

from heuristic_core.config.figure import Figure
from heuristic_core.experiments.subnetworks.analysis.accuracy import AUC, OOD
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.experiments.subnetworks.figures.roles import ROLES, group_label
from heuristic_core.experiments.subnetworks.figures.rows import (
    FAMILIES,
    SUMMARY_GROUPS,
    average_j,
    average_subsets,
    ft_seeds,
    map_subset_groups,
    require_rows,
    resolve_subsets,
)
from heuristic_core.figures.drawing import Drawing, Tables
from heuristic_core.figures.lines import DASHES, draw_lines
from heuristic_core.figures.panels import make_wrapped_panels, set_percent_axis, spread_labels
from heuristic_core.figures.roles import Role
from heuristic_core.figures.style import SMALL_FONT_SIZE
from heuristic_core.figures.text import format_number, format_seed

MEANS = ""  # the panel of groups
NO_FAMILY = "subsets"
FAMILY_MEAN = Role("mean", ROLES[OOD].colour)
GROUPS = {group_label(group): ROLES[group]._replace(marker="") for group in SUMMARY_GROUPS}
PANEL_HEIGHT = 1.75  # inches
LABEL_HEIGHT = 0.125  # inches from one label to the next
MARKS = ["ft_seed", "step", "subset", "family", "group", "n", "accuracy", "low", "high", "unit"]


def draw(tables: Tables, settings: Figure, context: Context) -> Drawing:
    """Draw for each fine-tuning seed a panel of means, and a panel for each family of OOD subsets.

    Args:
        tables: Data frames by schema name: "finetune_accuracy".
        settings: The target's ``config.figure.Figure``.
        context: The study's ``config.context.Context``.

    Returns:
        The figure and its marks, one row per point; `subset` is null for the mean of a group, or of the OOD subsets of
        a family.
    """
    trace = require_rows(tables["finetune_accuracy"], "rows in table finetune_accuracy")
    means = trace[trace["subset"].isna()]  # computed as those of table 7
    groups = map_subset_groups(trace, resolve_subsets(settings, context))
    trace = trace[trace["subset"].isin(list(groups))]
    ood = trace[trace["group"] == OOD].assign(line=lambda rows: rows["subset"], panel=_name_panels)
    family_means = average_subsets(ood, ["ft_seed", "step", "panel"]).assign(group=OOD, line="")
    auc = means[means["group"] == AUC]
    if settings.subsets or len(auc) == len(means):  # other subsets than those of the analysis, or published results
        averages = [average_subsets(trace, ["ft_seed", "step", "group"]), average_j(trace, ["ft_seed", "step"])]
        means = pd.concat([*averages, auc])
    means = means.assign(family=None, panel=MEANS)
    means = means.assign(line=means["group"].map(group_label))
    several = ood.groupby("panel")["subset"].nunique() > 1
    several &= several.index.isin(ood["family"].dropna())
    family_means = family_means[family_means["panel"].map(several)].assign(family=lambda rows: rows["panel"])
    points = pd.concat([means, ood, family_means]).sort_values("step", kind="stable")
    panels = [
        MEANS,
        *sorted(set(ood["panel"]), key=lambda name: (FAMILIES.index(name) if name in FAMILIES else 9, name)),
    ]
    looks = {panel: _assign_looks(ood[ood["panel"] == panel], groups) for panel in panels[1:]} | {MEANS: GROUPS}
    keys = [(ft_seed, panel) for ft_seed in ft_seeds(points) for panel in panels]
    most = max(points.groupby("panel")["line"].nunique())
    height = max(PANEL_HEIGHT, LABEL_HEIGHT * most + 0.5)
    figure, axes = make_wrapped_panels(settings, len(keys), height, sharex=True, sharey=True)
    for ax, (ft_seed, panel) in zip(axes, keys, strict=True):
        rows = points[(points["ft_seed"] == ft_seed) & (points["panel"] == panel)]
        _draw_panel(ax, rows, looks[panel], panel == MEANS, spacing=106 * LABEL_HEIGHT / (height - 0.45))
        set_percent_axis(ax.yaxis, points["accuracy"])
        ax.set_xlim(0, points["step"].max())
        name = "means" if panel == MEANS else f"OOD, {panel.replace('_', ' ')}"
        ax.set_title(f"{format_seed(ft_seed)}: {name}", loc="left")
        ax.set(ylabel="accuracy, AUC (%),\nJ (points)", xlabel="fine-tuning step")
        ax.label_outer()
    return figure, points[MARKS]


def _name_panels(rows: pd.DataFrame) -> pd.Series:
    """Return the panel of each row of a subset: its family."""
    return rows["family"].astype(object).where(rows["family"].notna(), NO_FAMILY)


def _assign_looks(ood: pd.DataFrame, groups: dict[str, str]) -> dict[str, Role]:
    """Return the looks of a family's subsets, in the order of display, and of their mean."""
    subsets = [subset for subset in groups if subset in set(ood["subset"])]
    styles = zip(subsets, cycle(DASHES), strict=False)
    return {subset: Role(subset, ROLES[OOD].colour, line=line) for subset, line in styles} | {"": FAMILY_MEAN}


def _draw_panel(ax: Axes, points: pd.DataFrame, looks: dict[str, Role], bold: bool, spacing: float) -> None:
    """Draw a line for each value of column `line`, named at its right end: thin for subsets, thick for means."""
    thick = {line: look for line, look in looks.items() if bold or not line}
    thin = {line: look for line, look in looks.items() if line not in thick}
    draw_lines(ax, points, "step", "accuracy", "line", thin, linewidth=0.8)
    draw_lines(ax, points, "step", "accuracy", "line", thick, linewidth=2.2)
    last_points = points.dropna(subset="accuracy").drop_duplicates("line", keep="last").set_index("line")
    ends = last_points.loc[[line for line in looks if line in last_points.index]]
    heights = spread_labels(ends["accuracy"], spacing, high=100)
    for (line, end), height in zip(ends.iterrows(), heights, strict=True):
        label = f"{line.removesuffix(', mean') or 'mean'}  {format_number(end['accuracy'], 0)}"
        _write_name(ax, label, (end["step"], end["accuracy"]), height, looks[line].colour, line in thick)


def _write_name(ax: Axes, label: str, end: tuple[float, float], height: float, colour, bold: bool) -> None:
    """Write a name to the right of the axes, with a leader to the end of its line."""
    leader = {"arrowstyle": "-", "color": colour, "linewidth": 0.5, "shrinkA": 1, "shrinkB": 1, "relpos": (0, 0.5)}
    ax.annotate(
        label, end, (1.05, height), textcoords=ax.get_yaxis_transform(), va="center", color=colour,
        fontsize=SMALL_FONT_SIZE, weight="bold" if bold else "normal", arrowprops=leader, annotation_clip=False,
    )  # fmt: skip
