"""The spread of subnetworks' accuracies on every subset, as figures 2 and 12 show it."""

from itertools import groupby, product

import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from heuristic_core.experiments.heuristic_core.analysis.accuracy import AUC, J
from heuristic_core.experiments.heuristic_core.analysis.names import subset_label
from heuristic_core.experiments.heuristic_core.analysis.outcomes import with_collapses
from heuristic_core.experiments.heuristic_core.figures.collapsed import crossed, crosses
from heuristic_core.experiments.heuristic_core.figures.roles import COLOURS, ROLES
from heuristic_core.experiments.heuristic_core.figures.rows import (
    CELL_MARKS,
    FAMILIES,
    ft_seeds,
    full_model,
    subnetworks,
    subset_groups,
)
from heuristic_core.figures.panels import panels, percent_axis, upright_height
from heuristic_core.figures.style import SMALL
from heuristic_core.figures.text import percent, seed_label

MARKERS = {group: role.marker for group, role in ROLES.items()}
GOLDEN = 0.618  # its multiples modulo 1 never cluster: points are set apart without random numbers
FEWEST_FOR_VIOLIN = 3  # distinct values; fewer have no shape
LINE = 9  # points from one line of text above a panel to the next
FULL = {"color": "black", "linewidth": 1.4}
WHISKER = {"color": "black", "linewidth": 0.6}


def spread(tables, settings, context, subsets, families: bool, letters=("", "")):
    """Figure and marks (a row per point and per segment): a panel for each fine-tuning seed and sparsity.

    subsets: the subsets shown; None for all. letters: of the mid and the high sparsity. families: draw J and AUC of
    each HANS family beside the subsets, name families above the panels, and give each panel the whole width.
    """
    accuracy, scores = tables["accuracy"], tables["family_scores" if families else "group_accuracy"]
    groups = subset_groups(full_model(accuracy, context.last), subsets)
    groups = {subset_label(subset): group for subset, group in groups.items()}
    accuracy = accuracy.assign(subset=accuracy["subset"].map(subset_label))
    scores = _beside(scores[scores["group"].isin([J, AUC])])
    groups |= dict(zip(scores["subset"], scores["group"], strict=True))
    accuracy = with_collapses(pd.concat([accuracy, scores], ignore_index=True), tables.get("runs"))
    full = full_model(accuracy, context.last)
    cells = {s: subnetworks(accuracy, context.last, s, context.seeds) for s in (context.mid, context.high)}
    family = full.drop_duplicates("subset").set_index("subset")["family"].reindex(list(groups))
    family = family.where(family.notna() & families, "")
    of_measure = dict(zip(scores["subset"], scores["name" if families else "subset"], strict=True))
    names = [of_measure.get(subset) or _short(subset, family[subset]) for subset in groups]
    seeds = ft_seeds(full)
    columns, panel = (1, 1.25) if families else (2, 1.8)
    rows = 2 * len(seeds) // columns
    above = 2 * LINE * families
    height = panel * rows + 0.5 + rows * (0.3 + above / 72) + upright_height(names)
    figure, axes = panels(settings, rows, columns, height, sharex=True, sharey=True)
    marks = pd.concat([full, *cells.values()])
    marks = marks.loc[marks["subset"].isin(list(groups)), [*CELL_MARKS, "collapsed"]]
    placed = zip(axes.flat, product(seeds, zip(cells.items(), letters, strict=True)), strict=True)
    for ax, (ft_seed, ((sparsity, cell), letter)) in placed:
        of_panel = cell[cell["ft_seed"] == ft_seed]
        _panel(ax, of_panel, full[full["ft_seed"] == ft_seed], groups, context.seeds)
        percent_axis(ax.yaxis, marks["accuracy"])
        unnamed = () if families else (J, AUC)  # one column has no room for a name above it
        labels = [(group, "" if group in unnamed else ROLES[group].label) for group in groups.values()]
        _above(ax, labels, above, "--")
        if families:
            _above(ax, list(zip(groups.values(), family.str.replace("_", "\n"), strict=True)), 0, ":")
        count = of_panel.loc[of_panel["accuracy"].notna(), "seed"].nunique()
        lettered = rf"$\mathbf{{{letter}}}$  " if letter else ""
        title = f"{lettered}{seed_label(ft_seed)}, sparsity {percent(sparsity)}, n = {count} subnetworks"
        ax.set_title(title, fontsize=SMALL, pad=14 + above, parse_math=True)
    for ax in axes[-1]:
        ax.set_xticks(range(len(names)), names, rotation=90)
    _legend(figure, full, collapsed=marks["collapsed"].any())
    return figure, marks


def _beside(scores: pd.DataFrame) -> pd.DataFrame:
    """Rows of J and AUC as of subsets: `subset` such as "J, lexical overlap", and `name`, which is its family."""
    label = scores["group"].map(lambda group: ROLES[group].label)
    family = scores["family"] if "family" in scores else pd.Series(None, scores.index, dtype=object)
    spaced = family.str.replace("_", " ")
    alike = family.groupby(spaced).transform("nunique") > 1  # as "a b" and "a_b"
    name = spaced.where(~alike, family).fillna(label)
    place = family.map({one: k for k, one in enumerate(FAMILIES)}).fillna(len(FAMILIES))
    named = scores.assign(subset=label.where(family.isna(), label + ", " + name), name=name, family=None, place=place)
    return named.sort_values(["group", "place"], ascending=[False, True], kind="stable")  # J, then AUC


def _short(subset: str, family: str) -> str:
    """A HANS subset without the prefix that says family and label, as in ln_preposition."""
    letter, _, name = subset.partition("_")
    return name if family and name and letter in (f"{family[0]}n", f"{family[0]}e") else subset


def _panel(ax: Axes, cell: pd.DataFrame, full: pd.DataFrame, groups: dict[str, str], seeds) -> None:
    """Violins, points and segments of one fine-tuning seed at one sparsity."""
    offset = {seed: 0.5 * ((k * GOLDEN) % 1 - 0.5) for k, seed in enumerate(seeds)}
    place = {subset: x for x, subset in enumerate(groups)}
    cell = cell[cell["subset"].isin(place)].dropna(subset="accuracy")
    cell = cell.assign(x=cell["subset"].map(place).astype(float) + cell["seed"].map(offset).astype(float))
    full = full[full["subset"].isin(place)].assign(x=full["subset"].map(place))
    sns.violinplot(
        cell[cell.groupby("subset")["accuracy"].transform("nunique") >= FEWEST_FOR_VIOLIN], x="subset", y="accuracy",
        order=list(place), hue="group", palette=COLOURS, saturation=1, alpha=0.25, linewidth=0, inner=None, cut=0,
        density_norm="width", width=0.85, dodge=False, legend=False, ax=ax,
    )  # fmt: skip
    if len(cell):
        sns.scatterplot(
            cell, x="x", y="accuracy", hue="group", palette=COLOURS, style="group", markers=MARKERS, s=7, linewidth=0,
            zorder=3, legend=False, ax=ax,
        )  # fmt: skip
    crosses(ax, *cell.loc[cell["collapsed"], ["x", "accuracy"]].to_numpy(float).T)
    ax.hlines(full["accuracy"], full["x"] - 0.45, full["x"] + 0.45, **FULL, zorder=4)
    ax.vlines("x", "low", "high", **WHISKER, zorder=4, data=full)
    measured = ", AUC (%)\nJ (points)" if {J, AUC} & {*groups.values()} else " (%)"
    ax.set(xlim=(-0.6, len(groups) - 0.4), xlabel="", ylabel=f"accuracy{measured}")
    ax.label_outer()


def _above(ax: Axes, labels: list[tuple[str, str]], points: float, line: str) -> None:
    """Each run of equal labels (group, text) named `points` points above the panel, and a line between runs."""
    first = 0
    for (group, text), run in groupby(labels):
        last = first + len(list(run)) - 1
        ax.annotate(
            text, ((first + last) / 2, 1), (0, points + 2), color=ROLES[group].colour, fontsize=SMALL, ha="center",
            va="bottom", xycoords=ax.get_xaxis_transform(), textcoords="offset points",
        )  # fmt: skip
        if last < len(labels) - 1:
            ax.axvline(last + 0.5, color="0.4", linestyle=line, linewidth=0.7)
        first = last + 1


def _legend(figure, full: pd.DataFrame, collapsed: bool) -> None:
    handles = [Line2D([], [], **FULL, label="full model")]
    if full["low"].notna().any():
        handles += [Line2D([], [], **WHISKER, marker="|", markersize=7, linestyle="", label="its 95 % interval")]
    handles += [Line2D([], [], color="0.4", marker="o", markersize=3, linestyle="", label="one subnetwork")]
    handles += crossed(collapsed, "collapsed: at chance in-domain")
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles))
