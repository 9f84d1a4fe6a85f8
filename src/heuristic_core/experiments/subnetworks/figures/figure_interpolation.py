"""From the subnetwork with the lowest J to the one with the highest, component by component."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from heuristic_core.config.figure import Figure
from heuristic_core.experiments.subnetworks.analysis.accuracy import ENTAILMENT, ID, LABELS, OOD, J
from heuristic_core.experiments.subnetworks.analysis.interpolation import HEURISTIC, PATH, WITH, WITHOUT
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.experiments.subnetworks.figures.roles import ROLES
from heuristic_core.experiments.subnetworks.figures.rows import ft_seeds, require_rows
from heuristic_core.figures.drawing import Drawing, Tables
from heuristic_core.figures.lines import draw_bands, draw_lines, legend_handles
from heuristic_core.figures.panels import make_panels, set_percent_axis
from heuristic_core.figures.text import annotate_missing, format_seed

GROUP_LOOKS = {group: ROLES[group] for group in (ID, OOD, ENTAILMENT, J)}
# Both are changes of one measure, in its colour: what is added is filled, what is removed open.
SINGLES = {WITH: ("^", "the lowest gains it"), WITHOUT: ("v", "the highest loses it")}
MARK_OFFSET = 0.14  # of the distance between components, from the middle to either mark
MARKS = [
    "ft_seed",
    "measure",
    "heuristic",
    "generalising",
    "role",
    "place",
    "name",
    "added",
    "group",
    "n",
    "accuracy",
    "low",
]
MARKS += ["high", "against", "change", "change_low", "change_high", "reason"]


def draw(tables: Tables, settings: Figure, context: Context) -> Drawing:
    """Draw a row for each fine-tuning seed: left the greedy path, right single components.

    The right panel shows changes in the measure by which both ends and steps are chosen: J, or OOD accuracy in a study
    without J.

    Args:
        tables: Data frames by schema name: "interpolation".
        settings: The target's ``config.figure.Figure``.
        context: Not used; every target takes it.

    Returns:
        The figure and its marks, one row per point.
    """
    rows = require_rows(tables["interpolation"], "rows in table interpolation")
    seeds = ft_seeds(rows)
    figure, axes = make_panels(settings, len(seeds), 2, 2.6 * len(seeds) + 0.5, width_ratios=(3, 2))
    rows = rows[rows["subset"].isna() & rows["family"].isna()]
    for (left, right), seed in zip(axes, seeds, strict=True):
        seed_rows = rows[rows["ft_seed"] == seed]
        first = seed_rows.iloc[0]
        left.set_title(_title(seed, first), loc="left")
        if pd.notna(first["reason"]):
            annotate_missing(left, first["reason"])
            right.remove()
            continue
        _draw_path(left, seed_rows)
        _draw_singles(right, seed_rows[seed_rows["role"].isin(SINGLES) & (seed_rows["group"] == first["measure"])])
    singles = [
        Line2D([], [], color="black", markerfacecolor=face, linestyle="", marker=marker, label=label)
        for face, (marker, label) in zip(("black", "white"), SINGLES.values(), strict=True)
    ]
    present = {group: look for group, look in GROUP_LOOKS.items() if (rows["group"] == group).any()}
    figure.legend(handles=[*legend_handles(present), *singles], loc="outside upper center", ncols=len(present) + 2)
    return figure, rows.loc[rows["group"].isin(GROUP_LOOKS) | rows["group"].isna(), MARKS]


def _title(seed: int, row: pd.Series) -> str:
    """Return the title of a row of panels: the seeds of both ends, and the measure that chose them."""
    if pd.isna(row["heuristic"]):
        return format_seed(seed)
    label, seeds = LABELS[row["measure"]], (row["heuristic"], row["generalising"])
    return f"{format_seed(seed)}: from the lowest {label} (pruning seed {seeds[0]}) to the highest ({seeds[1]})"


def _draw_path(ax: Axes, rows: pd.DataFrame) -> None:
    """Draw values along the path, from its first end to its last."""
    steps = rows[rows["role"].isin((HEURISTIC, PATH))].sort_values("place", kind="stable")
    steps = steps.assign(place=steps["place"].astype(float))
    draw_bands(ax, steps, "place", "group", GROUP_LOOKS)
    draw_lines(ax, steps, "place", "accuracy", "group", GROUP_LOOKS)
    ticks = steps.drop_duplicates("place")
    labels = [
        "lowest" if tick.role == HEURISTIC else f"{'+' if tick.added else '−'} {tick.name}"
        for tick in ticks.itertuples(index=False)
    ]
    labels[-1] += " = highest"
    ax.set_xticks(ticks["place"], labels, rotation=90)
    set_percent_axis(ax.yaxis, steps["low"])
    ax.set(xlabel="", ylabel="accuracy (%), J (points)")


def _draw_singles(ax: Axes, rows: pd.DataFrame) -> None:
    """Draw changes by single components that only the highest has, ordered by how much they raise the lowest."""
    order = rows[rows["role"] == WITH].sort_values("change", ascending=False, kind="stable")["name"].tolist()
    label = "OOD accuracy" if rows["measure"].iloc[0] == OOD else LABELS[J]
    ax.axhline(0, color="0.6", linewidth=0.6)
    colour = ROLES[rows["measure"].iloc[0]].colour
    for (role, (marker, _)), side in zip(SINGLES.items(), (-MARK_OFFSET, MARK_OFFSET), strict=True):
        role_rows = rows[rows["role"] == role].set_index("name").loc[order]
        ends = (role_rows["change"] - role_rows["change_low"], role_rows["change_high"] - role_rows["change"])
        places, face = [k + side for k in range(len(order))], colour if role == WITH else "white"
        ax.errorbar(places, role_rows["change"], ends, fmt=marker, color=colour, markerfacecolor=face, linewidth=0.9)
    ax.set_xticks(range(len(order)), order, rotation=90)
    ax.set(xlabel="component of the highest alone", ylabel=f"change in {label} (points)")
