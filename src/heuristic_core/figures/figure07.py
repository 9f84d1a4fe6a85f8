"""Figure 7: attention of core heads, drawn between the tokens of example pairs."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from heuristic_core.figures.panels import seed_label, upright_height
from heuristic_core.figures.rows import ft_seeds, some
from heuristic_core.figures.style import SMALL

HEADS, PAIRS = 6, 2  # at most so many a fine-tuning seed
LEAST = 0.05  # a smaller probability is not drawn
WIDEST = 2.4  # points, at probability 1
GAP = 0.7  # tokens, before the second sentence
LINE_HEIGHT, TITLE_HEIGHT, HEADING_HEIGHT, LEGEND_HEIGHT = 1.25 * SMALL / 72, 0.22, 0.26, 0.3  # inches
BETWEEN = 0.75  # inches, the least between the two columns of a panel
REPEATED, OTHER = ("#D55E00", "-"), ("#949494", (0, (2.5, 1.2)))  # colour, line
MARKS = ["ft_seed", "role", "heads", "name", "pair", "query", "query_token", "key", "key_token", "category"]


def draw(tables, settings, context):
    """A block for each fine-tuning seed and pair, a panel for each head. Marks: one row per line drawn.

    role: core, or kept most often where the core is empty. heads: how many the core has, shown or not.
    Raises ValueError where there is no attention of these heads.
    """
    maps = tables["attention_maps"]
    maps = some(maps[maps["step"] == context.last], f"attention between tokens at step {context.last}")
    maps = maps[maps["pair"] < PAIRS].merge(_chosen(tables["core"]), on=["ft_seed", "component"])
    maps = some(maps, "attention between tokens of the heads in table core")
    maps = maps.sort_values(["ft_seed", "pair", "component", "query", "key"], kind="stable")
    blocks = [(seed, pair, rows) for (seed, pair), rows in maps.groupby(["ft_seed", "pair"])]
    label = upright_height({*maps["query_token"], *maps["key_token"]})
    columns = int(np.clip(settings.width // (2 * label + BETWEEN), 1, HEADS))
    lines = [-(-rows["component"].nunique() // columns) for _, _, rows in blocks]
    heights = [
        HEADING_HEIGHT + count * (TITLE_HEIGHT + LINE_HEIGHT * (rows["query"].nunique() + 2 * GAP))
        for (_, _, rows), count in zip(blocks, lines, strict=True)
    ]
    height = settings.height or sum(heights) + LEGEND_HEIGHT
    figure = Figure(figsize=(settings.width, height), layout="constrained")
    parts = figure.subfigures(len(blocks) + 1, 1, height_ratios=[LEGEND_HEIGHT, *heights], squeeze=False)[:, 0]
    _legend(parts[0])
    for part, (ft_seed, _, rows), count in zip(parts[1:], blocks, lines, strict=True):
        part.suptitle(_heading(ft_seed, rows), x=0.01, ha="left")
        axes = part.subplots(count, columns, squeeze=False).ravel()
        heads = [head for _, head in rows.groupby("component")]
        for ax, head in zip(axes, heads, strict=False):
            _panel(ax, head)
        for unused in axes[len(heads) :]:
            unused.axis("off")  # but keeps its column
    drawn = maps[maps["probability"] > LEAST]
    return figure, drawn[[*MARKS, "probability"]].reset_index(drop=True)


def _chosen(core: pd.DataFrame) -> pd.DataFrame:
    """The heads shown, by fine-tuning seed: of its core, or where that is empty of those that most subnetworks keep."""
    heads = some(core[core["kind"] == "head"], "heads in table core")
    found = []
    for ft_seed in ft_seeds(heads):
        of_seed = heads[heads["ft_seed"] == ft_seed].sort_values("component")
        shown, role = of_seed[of_seed["in_core"].astype(bool)], "core"
        count = len(shown)
        if shown.empty:
            order = (-of_seed["mid"] - of_seed["high"]).argsort(kind="stable")
            shown, role = of_seed.iloc[order], "kept most often"
        found.append(shown.head(HEADS).assign(heads=count, role=role))
    return pd.concat(found)[["ft_seed", "component", "role", "heads"]]


def _heading(ft_seed: int, rows: pd.DataFrame) -> str:
    shown, (role, heads) = rows["component"].nunique(), rows[["role", "heads"]].iloc[0]
    of_core = f"{shown} core heads" if shown == heads else f"the first {shown} of {heads} core heads"
    what = of_core if role == "core" else f"no core heads; the {shown} heads kept most often"
    return f"{seed_label(ft_seed)}, pair {rows['pair'].iloc[0] + 1}: {what}"


def _legend(part) -> None:
    handles = [
        Line2D([], [], color=colour, linestyle=line, linewidth=1.5, label=name)
        for (colour, line), name in ((REPEATED, "to the same word in the other sentence"), (OTHER, "to other tokens"))
    ]
    sizes = [Line2D([], [], color="black", linewidth=WIDEST * p, label=f"probability {p:g}") for p in (0.1, 0.5, 1.0)]
    part.legend(handles=[*handles, *sizes], loc="center", ncols=5, handlelength=2.2, columnspacing=1.2)


def _panel(ax: Axes, head: pd.DataFrame) -> None:
    """Asking tokens at 0, attended ones at 1, the first on top; a line for every probability above `LEAST`."""
    tokens = head.drop_duplicates("key").sort_values("key")
    heights = _heights(tokens["key_sentence"])
    lines = head[head["probability"] > LEAST].sort_values("probability", kind="stable")
    for repeated, (colour, line) in ((False, OTHER), (True, REPEATED)):
        drawn = lines[(lines["category"] == "repeated") == repeated]
        ends = [[(0, heights[q]), (1, heights[k])] for q, k in zip(drawn["query"], drawn["key"], strict=True)]
        widths = WIDEST * drawn["probability"].to_numpy()
        ax.add_collection(LineCollection(ends, linewidths=widths, colors=colour, linestyles=[line]))
    labels = tokens["key_token"].tolist()
    ax.set(xlim=(0, 1), ylim=(heights.min() - 0.6, heights.max() + 0.6), xticks=[])
    ax.set_yticks(heights, labels)
    right = ax.secondary_yaxis("right")
    right.set_yticks(heights, labels)
    for axis in (ax, right):
        axis.tick_params("y", length=0, pad=2)
        axis.spines[:].set_visible(False)
    ax.set_title(f"head {head['name'].iloc[0]}, repeated: {100 * _repeated(head):.0f} %", fontsize=SMALL)


def _heights(sentences: pd.Series) -> np.ndarray:
    """A height for each token, in lines, descending; a gap stands before the second sentence."""
    second = (sentences == 1).fillna(False).to_numpy(dtype=bool)
    return -(np.arange(len(second)) + GAP * (second.cumsum() > 0))


def _repeated(head: pd.DataFrame) -> float:
    """Mean share of attention to repeated words over the words of the pair; a word's is the mean over its tokens."""
    head = head[head["category"].notna()]
    tokens = head.groupby("query")
    weights = 1 / tokens["category"].agg(lambda kinds: (kinds == "self").sum())
    shares = head["probability"].where(head["category"] == "repeated", 0).groupby(head["query"]).sum()
    return float((weights * shares).sum() / weights.sum())
