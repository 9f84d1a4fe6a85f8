"""Direct effects of core heads on later heads, by queries, keys and values, and on the logits, for OOD and ID."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from heuristic_core.config.figure import Figure as FigureSettings
from heuristic_core.experiments.subnetworks.analysis.accuracy import ID, OOD
from heuristic_core.experiments.subnetworks.analysis.contrasts import LOG_ODDS
from heuristic_core.experiments.subnetworks.analysis.path_effects import CORE, LOGITS, TOTAL
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.experiments.subnetworks.figures.roles import ROLES
from heuristic_core.experiments.subnetworks.figures.rows import ft_seeds, reject_subsets, require_rows
from heuristic_core.figures.drawing import Drawing, Tables
from heuristic_core.figures.panels import make_panels
from heuristic_core.figures.style import SMALL_FONT_SIZE, contrast_colour
from heuristic_core.figures.text import format_number, format_seed, format_signed

PARTS = {"query": "queries", "key": "keys", "value": "values"}
MAX_SENDERS, MAX_RECEIVERS = 10, 24  # for each fine-tuning seed: those with the largest shares
LEVEL, MIN_NUMBER = 0.05, 0.005  # of q or p, and the smallest share whose number is written
COLOURS = "RdBu_r"
ROW_HEIGHT, GAP = 0.165, 0.3  # inches of a row; between heads and logits, in columns
COLUMNS = ["ft_seed", "group", "sender", "receiver", "part", "n", "effect", "effect_low", "effect_high", "random", "p"]
EDGE_COLUMNS = ["total", "share", "drawn", "differs"]
COLUMNS += ["q", "beyond", *EDGE_COLUMNS]


def draw(tables: Tables, settings: FigureSettings, context: Context) -> Drawing:
    """Draw two maps for each fine-tuning seed, OOD and ID: core heads and parts down, later heads and logits across.

    A cell shows its number if its effect differs from the mean of random senders and is larger than each of them
    (`differs`).

    Args:
        tables: Data frames by schema name: "paths" and "core".
        settings: The target's ``config.figure.Figure``.
        context: Not used; every target takes it.

    Returns:
        The figure and its marks, one row per possible edge. `drawn` says whether it has a cell, `share` is its share of
        `total`, the change of mean log odds (nats) when the whole core is replaced.
    """
    reject_subsets(settings)
    heads, rows = require_rows(tables["core"], "rows in table core"), _select_means(tables["paths"])
    edge_tables = [_select_edges(group_rows) for _, group_rows in rows.groupby(["ft_seed", "group"], sort=False)]
    edges = _mark_drawn(pd.concat(edge_tables)) if edge_tables else rows.assign(**dict.fromkeys(EDGE_COLUMNS))
    panels = [(seed, group) for seed in ft_seeds(heads) for group in (OOD, ID)]
    cells = {key: edges[(edges["ft_seed"] == key[0]) & (edges["group"] == key[1])] for key in panels}
    counts = [max(len(_list_rows(rows[rows["drawn"].eq(True)])), 1) for rows in cells.values()]
    height = ROW_HEIGHT * sum(counts) + 0.55 * len(panels) + 0.6
    figure, axes = make_panels(settings, len(panels), 1, height, height_ratios=counts)
    scale = Normalize(*(np.nanmax([0.05, *edges["share"].abs().astype(float)]) * end for end in (-1, 1)))
    order = heads.dropna(subset="head").drop_duplicates("name").sort_values(["layer", "head"], kind="stable")
    for ax, (key, panel_edges) in zip(axes[:, 0], cells.items(), strict=True):
        ax.set_title(f"{format_seed(key[0])}, {_describe_total(key[1], panel_edges)}", loc="left")
        seed_edges = edges[(edges["ft_seed"] == key[0]) & edges["drawn"].eq(True)]
        receivers = [name for name in order["name"] if name in set(seed_edges["receiver"])]
        core = set(heads.loc[(heads["ft_seed"] == key[0]) & heads["in_core"].astype(bool), "name"])
        _draw_panel(ax, panel_edges[panel_edges["drawn"].eq(True)], receivers, core, scale)
    axes[-1, 0].set_xlabel("later head")
    bar = figure.colorbar(ScalarMappable(scale, COLOURS), ax=axes, location="bottom", shrink=0.6, aspect=45, pad=0.01)
    bar.set_label("share of the core's total effect; a number: it differs from random heads'")
    bar.ax.xaxis.set_major_formatter(lambda value, _: f"{format_number(100 * value, 0)} %")
    bar.outline.set_visible(False)
    _fix_layout(figure)
    return figure, edges[COLUMNS]


def _fix_layout(figure: Figure) -> None:
    """Lay the figure out and round positions, whose last digits depend on Python's hashes of strings."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for ax in figure.axes:
        ax.set_position(np.round(ax.get_position().bounds, 6))


def _select_means(table: pd.DataFrame) -> pd.DataFrame:
    """Select changes of log odds when component means replace core heads."""
    rows = table[(table["donor"] == "mean") & (table["role"] == CORE) & (table["measure"] == LOG_ODDS)]
    return rows[rows["group"].isin([OOD, ID]) & rows["subset"].isna()]


def _select_edges(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the edges from single core heads in one run and group, with the effect of the whole core."""
    core_rows = rows[rows["receiver"] == TOTAL]
    core_rows = core_rows[core_rows["sender"] == CORE] if (core_rows["sender"] == CORE).any() else core_rows
    total = core_rows.iloc[0]
    edges = rows[(rows["receiver"] != TOTAL) & ((rows["sender"] != CORE) | (rows["sender"].nunique() == 1))]
    clear = total["effect_low"] > 0 or total["effect_high"] < 0
    share = edges["effect"] / total["effect"] if clear else np.nan
    edges = edges.assign(total=total["effect"], share=share, part=edges["part"].fillna(LOGITS))
    differs = (edges["q"].fillna(edges["p"]) < LEVEL) & edges["beyond"].fillna(False).astype(bool)
    return edges.assign(differs=differs)


def _mark_drawn(edges: pd.DataFrame) -> pd.DataFrame:
    """Add `drawn`: the edge has a share, and sender and receiver are among the strongest of the fine-tuning seed."""
    size, drawn = edges["share"].abs(), edges["share"].notna()
    drawn &= edges["receiver"].eq(LOGITS) | _among_largest(size, edges, "receiver", MAX_RECEIVERS)
    return edges.assign(drawn=drawn & _among_largest(size, edges, "sender", MAX_SENDERS))


def _among_largest(size: pd.Series, edges: pd.DataFrame, by: str, count: int) -> pd.Series:
    """Return whether an edge belongs to one of the `count` heads of its seed whose largest edges are largest."""
    heads = size.where(edges[by] != LOGITS).groupby([edges["ft_seed"], edges[by]]).max()
    rank = heads.groupby("ft_seed").rank(ascending=False, method="first")
    keys = pd.MultiIndex.from_frame(edges[["ft_seed", by]])
    return pd.Series(rank.reindex(keys).le(count).to_numpy(dtype=bool), edges.index)


def _describe_total(group: str, edges: pd.DataFrame) -> str:
    """Describe the core's total effect, for the title of a panel."""
    if edges.empty:
        return f"{ROLES[group].label}: no core head"
    total = f"{ROLES[group].label}: without the core {format_signed(edges['total'].iloc[0], 2)} nats of log odds"
    return total if edges["share"].notna().any() else f"{total}, not clear of 0, so no shares"


def _list_rows(edges: pd.DataFrame) -> list[tuple[str, str]]:
    """Return the rows of a map, sender and part: one row for a sender that reaches the logits alone."""
    rows = []
    for sender, sender_edges in edges.groupby("sender", sort=False):
        rows += [(sender, part) for part in PARTS if part in set(sender_edges["part"])] or [(sender, LOGITS)]
    return rows


def _draw_panel(ax: Axes, edges: pd.DataFrame, receivers: Sequence[str], core: set[str], scale: Normalize) -> None:
    """Draw one map; names of core heads are black."""
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0, pad=1)
    ax.set(xticks=[], yticks=[])
    if edges.empty:
        return
    rows = _list_rows(edges)
    places = {row: k for k, row in enumerate(rows)}
    senders = pd.Series([sender for sender, _ in rows]).value_counts(sort=False)  # number of rows of each
    starts = dict(zip(senders.index, np.cumsum(senders) - senders, strict=True))
    grid, logits = np.full((len(rows), len(receivers)), np.nan), np.full((len(senders), 1), np.nan)
    for edge in edges.itertuples():
        if edge.receiver == LOGITS:
            logits[senders.index.get_loc(edge.sender), 0] = edge.share
            x, y = len(receivers) + GAP + 0.5, starts[edge.sender] + senders[edge.sender] / 2
        else:
            row, column = places[edge.sender, edge.part], receivers.index(edge.receiver)
            grid[row, column], x, y = edge.share, column + 0.5, row + 0.5
        if edge.differs and abs(edge.share) >= MIN_NUMBER:
            colour = contrast_colour(ScalarMappable(scale, COLOURS).to_rgba(edge.share))
            text = {"ha": "center", "va": "center_baseline", "fontsize": SMALL_FONT_SIZE, "in_layout": False}
            ax.text(x, y, format_number(100 * edge.share, 0), color=colour, **text)
    ends = np.array([0.0, 1.0]) + len(receivers) + GAP
    for x, y, shares in (
        (np.arange(len(receivers) + 1), np.arange(len(rows) + 1), grid),
        (ends, [*starts.values(), len(rows)], logits),
    ):
        if shares.size:
            ax.pcolormesh(x, y, shares, norm=scale, cmap=COLOURS, edgecolors="white", linewidth=0.5)
    ax.set_ylim(len(rows), 0)
    ax.set_yticks(np.arange(len(rows)) + 0.5, [f"{sender} → {PARTS.get(part, part)}" for sender, part in rows])
    ax.set_xticks([*(np.arange(len(receivers)) + 0.5), ends.mean()], [*receivers, LOGITS])
    for label in ax.get_xticklabels()[:-1]:
        label.set_color("black" if label.get_text() in core else "0.35")
