"""The graph of direct effects: which later heads core heads act on, by queries, keys or values, for OOD against ID."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch

from heuristic_core.analysis.accuracy import ID, OOD
from heuristic_core.analysis.contrasts import LOG_ODDS
from heuristic_core.analysis.paths import CORE, LOGITS, TOTAL
from heuristic_core.figures.panels import panels
from heuristic_core.figures.roles import ROLES, Role
from heuristic_core.figures.rows import ft_seeds, groups_alone, some
from heuristic_core.figures.style import SMALL
from heuristic_core.figures.text import number, seed_label, signed

# Okabe and Ito's palette, without the colours of groups of subsets.
PARTS = {
    "query": Role("queries", "#56B4E9"),
    "key": Role("keys", "#E69F00"),
    "value": Role("values", "#CC79A7"),
    LOGITS: Role("logits", "black"),
}
BENDS = {"query": -0.12, "key": 0.12, "value": 0.0, LOGITS: 0.0}
DRAWN, LABELLED = 16, 6  # strongest edges of a panel, and of these those whose share is written
LEVEL, PALE = 0.05, 0.3
WIDEST, THINNEST = 7.0, 0.5  # points, of a share of 100 % and of the smallest
COLUMNS = ["ft_seed", "group", "sender", "receiver", "part", "n", "effect", "effect_low", "effect_high", "random", "p"]
COLUMNS += ["q", "total", "share", "drawn", "differs"]


def draw(tables, settings, context):
    """Rows: fine-tuning seeds; columns: OOD and ID. Marks: one row per edge that there could be; drawn: whether it is.

    share: of the change of mean log odds that replacing the whole core makes (total). Drawn are the strongest edges, in
    full colour those whose effect differs from random senders' (differs).
    """
    groups_alone(settings)
    table = some(tables["paths"], "rows in table paths: no core")
    edges = pd.concat(_edges(of_group) for _, of_group in _of_means(table).groupby(["ft_seed", "group"], sort=False))
    seeds, size = ft_seeds(edges), _size(table)
    figure, axes = panels(settings, len(seeds), 2, 3.0 * len(seeds) + 0.4)
    for row, ft_seed in zip(axes, seeds, strict=True):
        core = _core(table[table["ft_seed"] == ft_seed])
        for ax, group in zip(row, (OOD, ID), strict=True):
            own = edges[(edges["ft_seed"] == ft_seed) & (edges["group"] == group)]
            _panel(ax, own, core, *size)
            ax.set_title(f"{seed_label(ft_seed)}: {ROLES[group].label}{_said(own)}", loc="left")
    handles = [Line2D([], [], color=look.colour, linewidth=2.5, label=look.label) for look in PARTS.values()]
    handles += [Line2D([], [], color="0.4", linestyle=":", linewidth=2.5, label="against the total effect")]
    handles += [Line2D([], [], color="0.4", alpha=PALE, linewidth=2.5, label="not told from random senders")]
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles))
    return figure, edges[COLUMNS]


def _of_means(table: pd.DataFrame) -> pd.DataFrame:
    """Changes of log odds where component means take the place of core heads."""
    rows = table[(table["donor"] == "mean") & (table["role"] == CORE) & (table["measure"] == LOG_ODDS)]
    return rows[rows["group"].isin([OOD, ID]) & rows["subset"].isna()]


def _edges(rows: pd.DataFrame) -> pd.DataFrame:
    """Of one run and group, the edges from single core heads, with what the whole core does."""
    whole = rows[rows["receiver"] == TOTAL]
    whole = whole[whole["sender"] == CORE] if (whole["sender"] == CORE).any() else whole
    total = whole.iloc[0]
    edges = rows[(rows["receiver"] != TOTAL) & ((rows["sender"] != CORE) | (rows["sender"].nunique() == 1))]
    clear = total["effect_low"] > 0 or total["effect_high"] < 0
    share = edges["effect"] / total["effect"] if clear else np.nan
    edges = edges.assign(total=total["effect"], share=share, part=edges["part"].fillna(LOGITS))
    strongest = edges["share"].abs().dropna().sort_values(ascending=False, kind="stable").index[:DRAWN]
    differs = edges["q"].fillna(edges["p"]) < LEVEL
    return edges.assign(drawn=edges.index.isin(strongest), differs=differs)


def _core(table: pd.DataFrame) -> list[int]:
    return sorted({int(head) for heads in table.loc[table["role"] == CORE, "sender_heads"] for head in heads})


def _size(table: pd.DataFrame) -> tuple[int, int]:
    """Layers and heads of a layer: receivers reach to the last head."""
    last = table.dropna(subset="component").sort_values("component")["receiver"].iloc[-1]
    layer, head = map(int, last.split("."))
    return layer + 1, head + 1


def _said(edges: pd.DataFrame) -> str:
    if edges.empty:
        return ""
    total = f", the core's total {signed(edges['total'].iloc[0], 2)} nats"
    return total if edges["share"].notna().any() else f"{total}, not clear of 0"


def _panel(ax: Axes, edges: pd.DataFrame, core: list[int], layers: int, heads: int) -> None:
    places = {f"{layer}.{head}": (layer, -head) for layer in range(layers) for head in range(heads)}
    places[LOGITS] = (layers, -(heads - 1) / 2)
    drawn = edges[edges["drawn"]].sort_values("share", key=lambda share: -share.abs(), kind="stable")
    for edge in drawn[::-1].itertuples():
        look = PARTS[edge.part]
        arrow = FancyArrowPatch(
            places[edge.sender],
            places[edge.receiver],
            connectionstyle=f"arc3,rad={BENDS[edge.part]}",
            arrowstyle="-",
            linewidth=THINNEST + (WIDEST - THINNEST) * min(abs(edge.share), 1),
            color=look.colour,
            linestyle="-" if edge.share > 0 else ":",
            alpha=1 if edge.differs else PALE,
            zorder=1,
        )
        ax.add_patch(arrow)
    for receiver, own in drawn[:LABELLED].groupby("receiver", sort=False):
        x, y = places[receiver]
        said = ", ".join(number(100 * share, 0) for share in own["share"])
        ax.text(x + 0.17, y, f"{said} %", fontsize=SMALL, va="center", zorder=4)
    seen = {*drawn["receiver"], *drawn["sender"]}
    size = 220 if heads <= 8 else 60
    for name, (x, y) in places.items():
        own = name != LOGITS and (x * heads - y) in core
        edge = "black" if own else "0.7"
        ax.scatter(x, y, size * (0.35 if heads > 8 and name not in seen else 1), "white", edgecolors=edge, zorder=2)
        if heads <= 8 or name in seen:
            ax.text(x, y, "" if name == LOGITS else name, fontsize=SMALL, ha="center", va="center", zorder=3)
    ax.text(layers, places[LOGITS][1] - 0.75, LOGITS, fontsize=SMALL, ha="center", va="center")
    ax.set(xlim=(-0.4, layers + 0.6), ylim=(-heads + 0.3, 0.6))
    ax.set_xticks(range(layers), [f"layer {layer}" for layer in range(layers)])
    ax.set_yticks([])
    ax.spines[["left", "bottom"]].set_visible(False)
    ax.tick_params(length=0)
