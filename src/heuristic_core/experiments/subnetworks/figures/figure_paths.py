"""The graph of direct effects of core heads on later heads by queries, keys and values, for OOD and ID."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch

from heuristic_core.experiments.subnetworks.analysis.accuracy import ID, OOD
from heuristic_core.experiments.subnetworks.analysis.contrasts import LOG_ODDS
from heuristic_core.experiments.subnetworks.analysis.path_effects import CORE, LOGITS, TOTAL
from heuristic_core.experiments.subnetworks.figures.roles import ROLES
from heuristic_core.experiments.subnetworks.figures.rows import ft_seeds, reject_subsets, require_rows
from heuristic_core.figures.panels import make_panels
from heuristic_core.figures.roles import Role
from heuristic_core.figures.style import SMALL_FONT_SIZE
from heuristic_core.figures.text import format_number, format_seed, format_signed

# Okabe and Ito's palette, without the colours of groups of subsets.
PARTS = {
    "query": Role("queries", "#56B4E9"),
    "key": Role("keys", "#E69F00"),
    "value": Role("values", "#CC79A7"),
    LOGITS: Role("logits", "black"),
}
CURVATURES = {"query": -0.12, "key": 0.12, "value": 0.0, LOGITS: 0.0}
TEXT_BACKGROUND = {"facecolor": "white", "alpha": 0.7, "linewidth": 0, "pad": 0.3}  # under text that edges may cross
MAX_EDGES, MAX_LABELS = 16, 6  # for each panel: edges drawn, and edges labelled with their share
LEVEL, PALE_ALPHA = 0.05, 0.3
MAX_LINEWIDTH, MIN_LINEWIDTH = 7.0, 0.5  # points, of a share of 100 % and of the smallest
COLUMNS = ["ft_seed", "group", "sender", "receiver", "part", "n", "effect", "effect_low", "effect_high", "random", "p"]
EDGE_COLUMNS = ["total", "share", "drawn", "differs"]
COLUMNS += ["q", "beyond", *EDGE_COLUMNS]


def draw(tables, settings, context):
    """Draw a row for each fine-tuning seed and a column each for OOD and ID.

    The strongest edges are drawn, in full colour if their effect differs from the mean of random senders and is larger
    than each of them (`differs`).

    Args:
        tables: Data frames by schema name: "paths" and "core".
        settings: The target's ``config.figure.Figure``.
        context: Not used; every target takes it.

    Returns:
        The figure and its marks, one row per possible edge. `drawn` says whether it is drawn, `share` is its share of
        `total`, the change of mean log odds (nats) when the whole core is replaced.
    """
    reject_subsets(settings)
    heads, rows = require_rows(tables["core"], "rows in table core"), _select_means(tables["paths"])
    edge_tables = [_select_edges(group_rows) for _, group_rows in rows.groupby(["ft_seed", "group"], sort=False)]
    edges = pd.concat(edge_tables) if edge_tables else rows.assign(**dict.fromkeys(EDGE_COLUMNS))
    seeds = ft_seeds(heads)
    figure, axes = make_panels(settings, len(seeds), 2, 3.0 * len(seeds) + 0.4)
    for row, ft_seed in zip(axes, seeds, strict=True):
        seed_heads = heads[(heads["ft_seed"] == ft_seed) & heads["head"].notna()]
        for ax, group in zip(row, (OOD, ID), strict=True):
            panel_edges = edges[(edges["ft_seed"] == ft_seed) & (edges["group"] == group)]
            _draw_panel(ax, panel_edges, seed_heads)
            ax.set_title(f"{format_seed(ft_seed)}: {_describe_total(group, panel_edges)}", loc="left")
    handles = [Line2D([], [], color=look.colour, linewidth=2.5, label=look.label) for look in PARTS.values()]
    handles += [Line2D([], [], color="0.4", linestyle=":", linewidth=2.5, label="against the total effect")]
    handles += [Line2D([], [], color="0.4", alpha=PALE_ALPHA, linewidth=2.5, label="not told from random senders")]
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles))
    return figure, edges[COLUMNS]


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
    strongest = edges["share"].abs().dropna().sort_values(ascending=False, kind="stable").index[:MAX_EDGES]
    differs = (edges["q"].fillna(edges["p"]) < LEVEL) & edges["beyond"].fillna(False).astype(bool)
    return edges.assign(drawn=edges.index.isin(strongest), differs=differs)


def _describe_total(group: str, edges: pd.DataFrame) -> str:
    """Describe the core's total effect, for the title of a panel."""
    if edges.empty:
        return "no core head"
    total = f"{ROLES[group].label}, the core's total {format_signed(edges['total'].iloc[0], 2)} nats"
    return total if edges["share"].notna().any() else f"{total},\nnot clear of 0"


def _draw_panel(ax: Axes, edges: pd.DataFrame, core_table: pd.DataFrame) -> None:
    """Draw the edges of one panel; `core_table` has the heads of table "core" in one run."""
    layers, heads = (int(core_table[axis].max()) + 1 for axis in ("layer", "head"))
    places = {head.name: (int(head.layer), -int(head.head)) for head in core_table.itertuples(index=False)}
    core = set(core_table.loc[core_table["in_core"].astype(bool), "name"])
    places[LOGITS] = (layers, -(heads - 1) / 2)
    drawn = edges[edges["drawn"].astype(bool)].sort_values("share", key=lambda share: -share.abs(), kind="stable")
    for edge in drawn[::-1].itertuples():
        look = PARTS[edge.part]
        arrow = FancyArrowPatch(
            places[edge.sender],
            places[edge.receiver],
            connectionstyle=f"arc3,rad={CURVATURES[edge.part]}",
            arrowstyle="-",
            linewidth=MIN_LINEWIDTH + (MAX_LINEWIDTH - MIN_LINEWIDTH) * min(abs(edge.share), 1),
            color=look.colour,
            linestyle="-" if edge.share > 0 else ":",
            alpha=1 if edge.differs else PALE_ALPHA,
            zorder=1,
        )
        ax.add_patch(arrow)
    for receiver, receiver_edges in drawn[:MAX_LABELS].groupby("receiver", sort=False):
        x, y = places[receiver]
        label = ", ".join(format_number(100 * share, 0) for share in receiver_edges["share"]) + " %"
        if heads <= 8 or receiver == LOGITS:
            ax.text(x + 0.17, y, label, fontsize=SMALL_FONT_SIZE, va="center", zorder=4, bbox=TEXT_BACKGROUND)
        else:  # beside small circles the text would cover the name
            ax.text(x, y - 0.3, label, fontsize=SMALL_FONT_SIZE, ha="center", va="top", zorder=4, bbox=TEXT_BACKGROUND)
    connected = {*drawn["receiver"], *drawn["sender"]}
    size = 220 if heads <= 8 else 60
    for name, (x, y) in places.items():
        edge = "black" if name in core else "0.7"
        ax.scatter(
            x, y, size * (0.35 if heads > 8 and name not in connected else 1), "white", edgecolors=edge, zorder=2
        )
        if heads <= 8 or name in connected:
            ax.text(x, y, "" if name == LOGITS else name, fontsize=SMALL_FONT_SIZE, ha="center", va="center", zorder=3)
    ax.text(layers, places[LOGITS][1] - 0.75, LOGITS, fontsize=SMALL_FONT_SIZE, ha="center", va="center")
    ax.set(xlim=(-0.4, layers + 0.6), ylim=(-heads + 0.3, 0.6))
    ax.set_xticks(range(layers), [f"layer {layer}" for layer in range(layers)])
    ax.set_yticks([])
    ax.spines[["left", "bottom"]].set_visible(False)
    ax.tick_params(length=0)
