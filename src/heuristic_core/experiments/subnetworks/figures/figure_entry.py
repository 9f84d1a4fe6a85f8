"""When heads enter subnetworks over fine-tuning: how often they are kept, with the full model's J."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.lines import Line2D

from heuristic_core.config.figure import Figure
from heuristic_core.experiments.subnetworks.analysis.accuracy import J
from heuristic_core.experiments.subnetworks.analysis.entry import (
    CORE,
    COUNTER,
    MIN_RUNS,
    MIN_SHARE,
    OTHER,
    compute_percents,
    find_entry,
)
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.experiments.subnetworks.figures.heads import CORE_COLOUR, COUNTER_COLOUR, RANDOM_COLOUR
from heuristic_core.experiments.subnetworks.figures.roles import ROLES
from heuristic_core.experiments.subnetworks.figures.rows import (
    average_j,
    ft_seeds,
    reject_subsets,
    require_rows,
)
from heuristic_core.figures.drawing import Drawing, Tables
from heuristic_core.figures.heat import COUNT_COLORMAP
from heuristic_core.figures.lines import draw_lines, legend_handles
from heuristic_core.figures.panels import make_panels, set_percent_axis
from heuristic_core.figures.roles import Role
from heuristic_core.figures.style import SMALL_FONT_SIZE
from heuristic_core.figures.text import format_percent, format_seed

LOOKS = {
    CORE: Role("core heads, mean", CORE_COLOUR, "D", "-"),
    COUNTER: Role("counter-heuristic heads, mean", COUNTER_COLOUR, "v", "-."),
    OTHER: Role("other heads, mean", RANDOM_COLOUR, "s", ":"),
}
GROUP_COLOURS = {group: look.colour for group, look in LOOKS.items()} | {OTHER: "0.35"}  # of text
MODEL_LOOK = {J: ROLES[J]._replace(label="full model's J", marker="")}
ENTRY_MARK = {"linestyle": "", "marker": "o", "markersize": 2.6, "color": "white", "markeredgecolor": "black"}
CURVES_HEIGHT, ROW_HEIGHT = 1.3, 0.108  # inches of the curves, and of a head or the name of a group
MAX_OTHERS_HEIGHT = 4.5  # inches of all other heads, whose rows are thinner and without names if there are many
COLUMNS = ["ft_seed", "step", "group", "name", "percent", "n", "enters"]


def draw(tables: Tables, settings: Figure, context: Context) -> Drawing:
    """Draw two panels for each fine-tuning seed: means and the full model above, a map of every head below.

    Heads of the map are ordered by group, then by the step at which they enter.

    Args:
        tables: Data frames by schema name: "entry_frequency" and "finetune_accuracy".
        settings: The target's ``config.figure.Figure``.
        context: The study's ``config.context.Context``.

    Returns:
        The figure and its marks, one row per point and cell; `name` is null for means of groups and for J.
        `enters` says whether the head enters at this step.
    """
    reject_subsets(settings)
    heads = _order_heads(require_rows(tables["entry_frequency"], "rows in table entry_frequency"), context.entry)
    group_means = heads.groupby(["ft_seed", "step", "group"])["percent"].agg(percent="mean", n="size").reset_index()
    trace = tables["finetune_accuracy"]
    trace = trace[trace["subset"].notna()]
    if context.subsets:
        trace = trace[trace["subset"].isin(list(context.subsets))]
    trace = average_j(trace, ["ft_seed", "step"]).rename(columns={"accuracy": "percent", "subsets": "n"})
    points, seeds = pd.concat([heads, group_means, trace], ignore_index=True), ft_seeds(heads)
    points = points[points["ft_seed"].isin(seeds)]
    maps = {seed: heads[heads["ft_seed"] == seed] for seed in seeds}
    map_height = max(sum(row.height for row in _list_rows(seed_heads)) for seed_heads in maps.values())
    columns = min(len(seeds), 2)
    rows = -(-len(seeds) // columns)
    figure, axes = make_panels(
        settings, 2 * rows, columns, rows * (CURVES_HEIGHT + map_height + 0.6) + 0.7, sharex=True,
        height_ratios=[CURVES_HEIGHT, map_height] * rows,
    )  # fmt: skip
    pairs = [(axes[2 * row, column], axes[2 * row + 1, column]) for row in range(rows) for column in range(columns)]
    for unused in pairs[len(seeds) :]:
        for ax in unused:
            ax.remove()
    cells = None
    for k, ((curves, head_map), ft_seed) in enumerate(zip(pairs, seeds, strict=False)):
        seed_points = points[points["ft_seed"] == ft_seed]
        _draw_curves(curves, seed_points[seed_points["name"].isna()])
        curves.set_title(format_seed(ft_seed), loc="left")
        curves.set_ylabel("" if k % columns else "kept (%),\nJ (points)")
        cells = _draw_map(head_map, maps[ft_seed])
        head_map.set(ylabel="" if k % columns else "head")
        head_map.set_xlabel("fine-tuning step", visible=True)
        head_map.tick_params("x", labelbottom=True)
    bar = figure.colorbar(cells, ax=figure.axes, location="bottom", shrink=0.5, aspect=45, pad=0.01)
    bar.set_label(f"subnetworks at {format_percent(context.mid)} sparsity that keep the head (%)")
    bar.outline.set_visible(False)
    looks = {group: look for group, look in LOOKS.items() if (heads["group"] == group).any()}
    entry = Line2D([], [], label=f"a head enters: {MIN_SHARE:g} % or more here and at the next", **ENTRY_MARK)
    figure.legend(handles=[*legend_handles(looks | MODEL_LOOK), entry], loc="outside upper center", ncols=2)
    return figure, points[COLUMNS]


def _order_heads(frequency: pd.DataFrame, steps: tuple[int, ...]) -> pd.DataFrame:
    """Return the rows with `percent` and `enters`, ordered by group, entry, mean share and head."""
    heads = frequency.assign(percent=compute_percents(frequency))
    keys = ["ft_seed", "component"]
    entries = {
        key: find_entry(head[head["n"] >= MIN_RUNS].set_index("step")["percent"].sort_index(), steps).get("entry_step")
        for key, head in heads.groupby(keys)
    }
    entry = pd.Series([entries[key] for key in zip(*(heads[key] for key in keys), strict=True)], heads.index, float)
    enters = heads["step"].eq(entry).fillna(False).astype(bool)
    mean, place = -heads.groupby(keys)["percent"].transform("mean"), heads["group"].map(list(LOOKS).index)
    heads = heads.assign(enters=enters, entry=entry, mean=mean, place=place)
    return heads.sort_values(["ft_seed", "place", "entry", "mean", "component", "step"], kind="stable")


def _draw_curves(ax: Axes, points: pd.DataFrame) -> None:
    """Draw means of groups, and the full model's J."""
    draw_lines(ax, points, "step", "percent", "group", dict(reversed(LOOKS.items())), linewidth=1.6)
    draw_lines(ax, points, "step", "percent", "group", MODEL_LOOK, linewidth=1.2)
    set_percent_axis(ax.yaxis)
    ax.set(xlabel="", ylabel="")


class Row(NamedTuple):
    """A row of a map: a head, or the name of a group if `name` is None; its height is in inches."""

    group: str
    name: str | None
    height: float


def _list_rows(heads: pd.DataFrame) -> list[Row]:
    """Return the rows of the map of one fine-tuning seed."""
    rows = []
    for group, names in heads.groupby("group", sort=False)["name"].unique().items():
        height = min(ROW_HEIGHT, MAX_OTHERS_HEIGHT / len(names)) if group == OTHER else ROW_HEIGHT
        rows += [Row(group, None, ROW_HEIGHT), *(Row(group, name, height) for name in names)]
    return rows


def _draw_map(ax: Axes, heads: pd.DataFrame) -> QuadMesh:
    """Draw a row for each head under the name of its group, and where heads enter. Return the cells."""
    rows = _list_rows(heads)
    thinnest, bottoms = min(row.height for row in rows), np.cumsum([row.height for row in rows])
    centres = [bottom - row.height / 2 for row, bottom in zip(rows, bottoms, strict=True)]
    grid = heads.pivot(index="name", columns="step", values="percent").reindex([row.name for row in rows])
    steps = grid.columns.to_numpy(dtype=float)
    middles = (steps[1:] + steps[:-1]) / 2
    ends = (middles[:1] - steps[:1], steps[-1:] - middles[-1:]) if len(middles) else ([0.5], [0.5])
    edges = np.concatenate([steps[:1] - ends[0], middles, steps[-1:] + ends[1]])
    cells = ax.pcolormesh(
        edges, [0, *bottoms], grid.to_numpy(dtype=float), vmin=0, vmax=100, cmap=COUNT_COLORMAP, edgecolors="white",
        linewidth=0.4 * thinnest / ROW_HEIGHT,
    )  # fmt: skip
    entered, places = heads[heads["enters"]], {row.name: y for row, y in zip(rows, centres, strict=True)}
    ax.plot(entered["step"], entered["name"].map(places), markeredgewidth=0.6, **ENTRY_MARK)
    labels = []
    for row, y in zip(rows, centres, strict=True):
        if row.name is None:
            text = {"va": "center", "fontsize": SMALL_FONT_SIZE, "color": GROUP_COLOURS[row.group], "in_layout": False}
            ax.text(edges[0], y, LOOKS[row.group].label.removesuffix(", mean"), **text)
        elif row.height == ROW_HEIGHT:
            labels.append((y, row))
    ax.set_yticks([y for y, _ in labels], [row.name for _, row in labels])
    for label, (_, row) in zip(ax.get_yticklabels(), labels, strict=True):
        label.set_color(GROUP_COLOURS[row.group])
    ax.set_ylim(bottoms[-1], 0)
    ax.tick_params("y", length=0, pad=1)
    ax.spines["left"].set_visible(False)
    return cells
