"""The spread of subnetworks' accuracies on every subset: figures 2 and 12."""

from collections.abc import Sequence
from itertools import groupby, product

import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from heuristic_core.config.figure import Figure
from heuristic_core.experiments.subnetworks.analysis.accuracy import AUC, J
from heuristic_core.experiments.subnetworks.analysis.outcomes import with_collapses, with_misses
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.experiments.subnetworks.figures.collapsed import draw_crosses, make_cross_handles
from heuristic_core.experiments.subnetworks.figures.roles import COLOURS, ROLES
from heuristic_core.experiments.subnetworks.figures.rows import (
    CELL_MARKS,
    FAMILIES,
    ft_seeds,
    map_subset_groups,
    select_full_model,
    select_subnetworks,
)
from heuristic_core.figures.drawing import Drawing, Tables
from heuristic_core.figures.panels import make_panels, set_percent_axis, vertical_label_height
from heuristic_core.figures.style import SMALL_FONT_SIZE
from heuristic_core.figures.text import format_percent, format_seed

MARKERS = {group: role.marker for group, role in ROLES.items()}
GOLDEN_RATIO = 0.618  # its multiples modulo 1 never cluster: jitter without random numbers
MIN_VIOLIN_VALUES = 5  # distinct values; fewer have no shape
TEXT_LINE = 9  # points from one line of text above a panel to the next
FULL_MODEL_STYLE = {"color": "black", "linewidth": 1.4}
WHISKER = {"color": "black", "linewidth": 0.6}


def draw_spread(
    tables: Tables,
    settings: Figure,
    context: Context,
    subsets: Sequence[str] | None,
    families: bool,
    first_letter: str = "",
) -> Drawing:
    """Draw a panel for each fine-tuning seed and sparsity.

    Args:
        tables: Data frames by schema name.
        settings: The figure's settings.
        context: The study's context.
        subsets: The subsets to show; None for all.
        families: Draw J and AUC of each HANS family beside the subsets, name families above the panels, and make each
            panel as wide as the figure.
        first_letter: The letter of the first panel; empty for none.

    Returns:
        The figure and its marks, one row per point and per segment.
    """
    accuracy, scores = tables["accuracy"], tables["family_scores" if families else "group_accuracy"]
    groups = map_subset_groups(select_full_model(accuracy, context.last), subsets)
    scores = _label_scores(scores[scores["group"].isin([J, AUC])])
    groups |= dict(zip(scores["subset"], scores["group"], strict=True))
    runs = tables.get("runs")
    accuracy = with_misses(with_collapses(pd.concat([accuracy, scores], ignore_index=True), runs), runs)
    full = select_full_model(accuracy, context.last)
    subnetwork_rows = {
        s: select_subnetworks(accuracy, context.last, s, context.seeds) for s in (context.mid, context.high)
    }
    family = full.drop_duplicates("subset").set_index("subset")["family"].reindex(list(groups))
    family = family.where(family.notna() & families, "")
    score_names = dict(zip(scores["subset"], scores["name" if families else "subset"], strict=True))
    names = [score_names.get(subset, subset) for subset in groups]
    seeds = ft_seeds(full)
    columns, panel = (1, 1.25) if families else (2, 1.8)
    rows = 2 * len(seeds) // columns
    label_space = 2 * TEXT_LINE * families
    height = panel * rows + 0.5 + rows * (0.3 + label_space / 72) + vertical_label_height(names)
    figure, axes = make_panels(settings, rows, columns, height, sharex=True, sharey=True)
    marks = pd.concat([full, *subnetwork_rows.values()])
    marks = marks.loc[marks["subset"].isin(list(groups)), [*CELL_MARKS, "collapsed", "missed"]]
    for k, (ax, (ft_seed, (sparsity, cell))) in enumerate(
        zip(axes.flat, product(seeds, subnetwork_rows.items()), strict=True)
    ):
        panel_rows = cell[cell["ft_seed"] == ft_seed]
        _draw_panel(ax, panel_rows, full[full["ft_seed"] == ft_seed], groups, context.seeds)
        set_percent_axis(ax.yaxis, marks["accuracy"])
        unlabelled = () if families else (J, AUC)  # one column has no room for a name above it
        labels = [(group, "" if group in unlabelled else ROLES[group].label) for group in groups.values()]
        _label_runs(ax, labels, label_space, "--")
        if families:
            _label_runs(ax, list(zip(groups.values(), family.str.replace("_", "\n"), strict=True)), 0, ":")
        count = panel_rows.loc[panel_rows["accuracy"].notna(), "seed"].nunique()
        prefix = rf"$\mathbf{{{chr(ord(first_letter) + k)}}}$  " if first_letter else ""
        title = f"{prefix}{format_seed(ft_seed)}, sparsity {format_percent(sparsity)}, n = {count} subnetworks"
        ax.set_title(title, fontsize=SMALL_FONT_SIZE, pad=14 + label_space, parse_math=True)
    for ax in axes[-1]:
        ax.set_xticks(range(len(names)), names, rotation=90)
    _add_legend(figure, full, marks)
    return figure, marks


def _label_scores(scores: pd.DataFrame) -> pd.DataFrame:
    """Label rows of J and AUC like subsets: `subset` such as "J, lexical overlap", and `name`, the family."""
    label = scores["group"].map(lambda group: ROLES[group].label)
    family = scores["family"] if "family" in scores else pd.Series(None, scores.index, dtype=object)
    spaced = family.str.replace("_", " ")
    ambiguous = family.groupby(spaced).transform("nunique") > 1  # as "a b" and "a_b"
    name = spaced.where(~ambiguous, family).fillna(label)
    place = family.map({family_name: k for k, family_name in enumerate(FAMILIES)}).fillna(len(FAMILIES))
    labelled = scores.assign(
        subset=label.where(family.isna(), label + ", " + name), name=name, family=None, place=place
    )
    return labelled.sort_values(["group", "place"], ascending=[False, True], kind="stable")  # J, then AUC


def _draw_panel(ax: Axes, cell: pd.DataFrame, full: pd.DataFrame, groups: dict[str, str], seeds) -> None:
    """Draw violins, points and segments of one fine-tuning seed at one sparsity."""
    offset = {seed: 0.5 * ((k * GOLDEN_RATIO) % 1 - 0.5) for k, seed in enumerate(seeds)}
    place = {subset: x for x, subset in enumerate(groups)}
    cell = cell[cell["subset"].isin(place)].dropna(subset="accuracy")
    cell = cell.assign(x=cell["subset"].map(place).astype(float) + cell["seed"].map(offset).astype(float))
    full = full[full["subset"].isin(place)].assign(x=full["subset"].map(place))
    sns.violinplot(
        cell[cell.groupby("subset")["accuracy"].transform("nunique") >= MIN_VIOLIN_VALUES], x="subset", y="accuracy",
        order=list(place), hue="group", palette=COLOURS, saturation=1, alpha=0.25, linewidth=0, inner=None, cut=0,
        density_norm="width", width=0.85, dodge=False, legend=False, ax=ax,
    )  # fmt: skip
    if len(cell):
        sns.scatterplot(
            cell, x="x", y="accuracy", hue="group", palette=COLOURS, style="group", markers=MARKERS, s=7, linewidth=0,
            zorder=3, legend=False, ax=ax,
        )  # fmt: skip
    for group, missed in cell[cell["missed"]].groupby("group", sort=False):
        hollow = {"facecolor": "white", "edgecolor": COLOURS[group], "linewidth": 0.6}
        ax.scatter(missed["x"], missed["accuracy"], s=9, marker=MARKERS[group], **hollow, zorder=3)
    draw_crosses(ax, *cell.loc[cell["collapsed"], ["x", "accuracy"]].to_numpy(float).T)
    ax.hlines(full["accuracy"], full["x"] - 0.45, full["x"] + 0.45, **FULL_MODEL_STYLE, zorder=4)
    ax.vlines("x", "low", "high", **WHISKER, zorder=4, data=full)
    measured = ", AUC (%)\nJ (points)" if {J, AUC} & {*groups.values()} else " (%)"
    ax.set(xlim=(-0.6, len(groups) - 0.4), xlabel="", ylabel=f"accuracy{measured}")
    ax.label_outer()


def _label_runs(ax: Axes, labels: list[tuple[str, str]], points: float, line: str) -> None:
    """Write each run of equal labels (group, text) `points` points above the panel, with a line between runs."""
    first = 0
    for (group, text), run in groupby(labels):
        last = first + len(list(run)) - 1
        ax.annotate(
            text, ((first + last) / 2, 1), (0, points + 2), color=ROLES[group].colour, ha="center",
            fontsize=SMALL_FONT_SIZE, va="bottom", xycoords=ax.get_xaxis_transform(), textcoords="offset points",
        )  # fmt: skip
        if last < len(labels) - 1:
            ax.axvline(last + 0.5, color="0.4", linestyle=line, linewidth=0.7)
        first = last + 1


def _add_legend(figure, full: pd.DataFrame, marks: pd.DataFrame) -> None:
    """Add the legend of the full model and of what `marks` have."""
    handles = [Line2D([], [], **FULL_MODEL_STYLE, label="full model")]
    if full["low"].notna().any():
        handles += [Line2D([], [], **WHISKER, marker="|", markersize=7, linestyle="", label="its 95 % interval")]
    handles += [Line2D([], [], color="0.4", marker="o", markersize=3, linestyle="", label="one subnetwork")]
    if marks["missed"].any():
        hollow = {"markerfacecolor": "white", "markeredgewidth": 0.6, "label": "missed its target sparsity"}
        handles += [Line2D([], [], color="0.4", marker="o", markersize=3.5, linestyle="", **hollow)]
    handles += make_cross_handles(marks["collapsed"].any(), "collapsed: at chance in-domain")
    figure.legend(handles=handles, loc="outside upper center", ncols=3 if marks["collapsed"].any() else len(handles))
