"""Figure 7: attention of core heads, drawn between the tokens of example pairs."""

from collections.abc import Collection

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.textpath import TextPath

from heuristic_core.experiments.heuristic_core.figures.rows import ft_seeds, some
from heuristic_core.figures.style import SMALL
from heuristic_core.figures.text import seed_label

HEADS, PAIRS = 6, 2  # at most, for each fine-tuning seed
LEAST = 0.1  # a smaller probability is not drawn
GAP = 0.7  # tokens, before the second sentence
LINE, TITLE, BELOW, HEADING, LEGEND, MARGIN = 1.25 * SMALL / 72, 0.18, 0.13, 0.19, 0.34, 0.08  # inches
LEAST_WIDTH = 0.6  # inches, between the two columns of a panel
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
    blocks = [[head for _, head in rows.groupby("component")] for _, rows in maps.groupby(["ft_seed", "pair"])]
    return _figure(blocks, settings), maps.loc[maps["probability"] >= LEAST, [*MARKS, "probability"]]


def _chosen(core: pd.DataFrame) -> pd.DataFrame:
    """The heads shown, by fine-tuning seed: of its core, or where that is empty of those that most subnetworks keep."""
    heads = some(core[core["kind"] == "head"], "heads in table core")
    found = []
    for ft_seed in ft_seeds(heads):
        of_seed = heads[heads["ft_seed"] == ft_seed].sort_values("component", kind="stable")
        shown, role = of_seed[of_seed["in_core"].astype(bool)], "core"
        count = len(shown)
        if shown.empty:
            order = (-of_seed["mid"] - of_seed["high"]).argsort(kind="stable")
            shown, role = of_seed.iloc[order], "kept most often"
        found.append(shown.head(HEADS).assign(heads=count, role=role))
    return pd.concat(found)[["ft_seed", "component", "role", "heads"]]


def _figure(blocks: list[list[pd.DataFrame]], settings) -> Figure:
    """Laid out by hand: matplotlib's layout of nested figures differs in the last digit from time to time."""
    label = _label_width({token for heads in blocks for token in heads[0]["key_token"]})
    columns = _columns(max(map(len, blocks)), int((settings.width - 2 * MARGIN) // (2 * label + LEAST_WIDTH)))
    room = (settings.width - 2 * MARGIN) / columns
    lines = [LINE * (heads[0]["key"].nunique() + GAP) for heads in blocks]  # inches
    rows = [-(-len(heads) // columns) for heads in blocks]
    total = LEGEND + sum(HEADING + n * (TITLE + height + BELOW) for n, height in zip(rows, lines, strict=True))
    figure = Figure(figsize=(settings.width, settings.height or total))
    _legend(figure)
    top = LEGEND  # inches from above, as if the figure were `total` high
    for heads, height in zip(blocks, lines, strict=True):
        figure.text(MARGIN / settings.width, 1 - top / total, _heading(heads), va="top")
        top += HEADING
        for k, head in enumerate(heads):
            column, last = k % columns, (k + 1) % columns == 0 or k + 1 == len(heads)
            left, bottom = MARGIN + column * room + label, top + TITLE + height
            size = ((room - 2 * label) / settings.width, height / total)
            _panel(figure.add_axes((left / settings.width, 1 - bottom / total, *size)), head)
            top = bottom + BELOW if last else top
    return figure


def _label_width(tokens: Collection[str]) -> float:
    """Inches that the longest of `tokens` takes beside the lines."""
    extents = (TextPath((0, 0), token.replace("$", "S"), size=SMALL).get_extents().width for token in tokens)
    return (max(extents) + 8) / 72


def _columns(heads: int, fitting: int) -> int:
    """Panels side by side, at most `fitting`, chosen so that the last row is as full as can be."""
    return -(-heads // -(-heads // max(fitting, 1)))


def _width(probability):
    """Of a line, in points."""
    return 0.25 + 2.2 * probability


def _heading(heads: list[pd.DataFrame]) -> str:
    shown, first = len(heads), heads[0].iloc[0]
    noun = "core head" if shown == first["heads"] == 1 else "core heads"
    of_core = f"{shown} {noun}" if shown == first["heads"] else f"the first {shown} of {first['heads']} {noun}"
    what = of_core if first["role"] == "core" else f"no core heads; the {shown} heads kept most often"
    return f"{seed_label(first['ft_seed'])}, pair {first['pair'] + 1}: {what}"


def _legend(figure: Figure) -> None:
    handles = [
        Line2D([], [], color=colour, linestyle=line, linewidth=1.5, label=name)
        for (colour, line), name in ((REPEATED, "to the same word in the other sentence"), (OTHER, "to other tokens"))
    ]
    sizes = [Line2D([], [], color="black", linewidth=_width(p), label=f"probability {p:g}") for p in (LEAST, 0.5, 1.0)]
    figure.legend(handles=[*handles, *sizes], loc="upper center", ncols=5, handlelength=2.2, columnspacing=1.2)


def _panel(ax: Axes, head: pd.DataFrame) -> None:
    """Asking tokens at 0, attended ones at 1, the first on top; a line for every probability of at least `LEAST`."""
    tokens = head.drop_duplicates("key").sort_values("key", kind="stable")
    heights = _heights(tokens["key_sentence"])
    lines = head[head["probability"] >= LEAST].sort_values("probability", kind="stable")
    for repeated, (colour, line) in ((False, OTHER), (True, REPEATED)):
        drawn = lines[(lines["category"] == "repeated") == repeated]
        ends = [[(0, heights[q]), (1, heights[k])] for q, k in zip(drawn["query"], drawn["key"], strict=True)]
        widths = _width(drawn["probability"].to_numpy())
        ax.add_collection(LineCollection(ends, linewidths=widths, colors=colour, linestyles=[line]))
    labels = tokens["key_token"].tolist()
    ax.set(xlim=(0, 1), ylim=(heights.min() - 0.5, heights.max() + 0.5), xticks=[])
    ax.set_yticks(heights, labels, parse_math=False)
    right = ax.secondary_yaxis("right")
    right.set_yticks(heights, labels, parse_math=False)
    for axis in (ax, right):
        axis.tick_params("y", length=0, pad=2)
        axis.spines[:].set_visible(False)
    ax.set_title(f"head {head['name'].iloc[0]}, repeated: {100 * _repeated(head):.0f} %", fontsize=SMALL, pad=3)


def _heights(sentences: pd.Series) -> np.ndarray:
    """A height for each token, in lines, descending; a gap precedes the second sentence."""
    second = (sentences == 1).fillna(False).to_numpy(dtype=bool)
    return -(np.arange(len(second)) + GAP * (second.cumsum() > 0))


def _repeated(head: pd.DataFrame) -> float:
    """Mean share of attention to repeated words over the words of the pair; a word's is the mean over its tokens."""
    head = head[head["category"].notna()]
    tokens = head.groupby("query")
    weights = 1 / tokens["category"].agg(lambda kinds: (kinds == "self").sum())
    shares = head["probability"].where(head["category"] == "repeated", 0).groupby(head["query"]).sum()
    return float((weights * shares).sum() / weights.sum())
