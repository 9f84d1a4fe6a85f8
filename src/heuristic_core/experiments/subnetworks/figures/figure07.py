"""Figure 7: attention of core heads, drawn between the tokens of example pairs."""

from collections.abc import Collection

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.textpath import TextPath

from heuristic_core.common.errors import format_count
from heuristic_core.config.figure import Figure as FigureSettings
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.experiments.subnetworks.figures.roles import REPEATED_COLOUR
from heuristic_core.experiments.subnetworks.figures.rows import ft_seeds, require_rows
from heuristic_core.figures.drawing import Drawing, Tables
from heuristic_core.figures.style import SMALL_FONT_SIZE
from heuristic_core.figures.text import format_seed

MAX_HEADS, MAX_PAIRS = 6, 2  # for each fine-tuning seed
MAX_COLUMNS = 3  # with room for their titles
MIN_PROBABILITY = 0.1  # smaller probabilities are not drawn
SENTENCE_GAP = 0.7  # tokens, before the second sentence
LINE_HEIGHT, TITLE_HEIGHT, SPACE_BELOW, HEADING_HEIGHT, LEGEND_HEIGHT, MARGIN = (
    1.25 * SMALL_FONT_SIZE / 72,
    0.18,
    0.13,
    0.19,
    0.34,
    0.08,
)  # inches
MIN_COLUMN_GAP = 0.6  # inches, between the two columns of a panel
REPEATED_STYLE, OTHER_STYLE = (REPEATED_COLOUR, "-"), ("#949494", (0, (2.5, 1.2)))  # colour, line
MARKS = ["ft_seed", "role", "heads", "name", "pair", "query", "query_token", "key", "key_token", "category"]


def draw(tables: Tables, settings: FigureSettings, context: Context) -> Drawing:
    """Draw a block for each fine-tuning seed, with a panel for each pair and head.

    Args:
        tables: Data frames by schema name: "attention_maps" and "core".
        settings: The target's ``config.figure.Figure``.
        context: The study's ``config.context.Context``.

    Returns:
        The figure and its marks, one row per line drawn. `role` is core, or kept most often if the core is empty.
        `heads` is the number of heads in the core, drawn or not.

    Raises:
        ValueError: If the tables lack the attention of these heads.
    """
    maps = tables["attention_maps"]
    maps = require_rows(maps[maps["step"] == context.last], f"attention between tokens at step {context.last}")
    maps = maps[maps["pair"] < MAX_PAIRS].merge(_select_heads(tables["core"]), on=["ft_seed", "component"])
    maps = require_rows(maps, "attention between tokens of the heads in table core")
    maps = maps.sort_values(["ft_seed", "pair", "component", "query", "key"], kind="stable")
    blocks = [[head for _, head in rows.groupby(["pair", "component"])] for _, rows in maps.groupby("ft_seed")]
    return _draw_figure(blocks, settings), maps.loc[maps["probability"] >= MIN_PROBABILITY, [*MARKS, "probability"]]


def _select_heads(core: pd.DataFrame) -> pd.DataFrame:
    """Select heads by fine-tuning seed: those in its core or, if this is empty, those that most subnetworks keep."""
    heads = require_rows(core[core["kind"] == "head"], "heads in table core")
    selections = []
    for ft_seed in ft_seeds(heads):
        seed_heads = heads[heads["ft_seed"] == ft_seed].sort_values("component", kind="stable")
        selected, role = seed_heads[seed_heads["in_core"].astype(bool)], "core"
        count = len(selected)
        if selected.empty:
            order = (-seed_heads["mid"] - seed_heads["high"]).argsort(kind="stable")
            selected, role = seed_heads.iloc[order], "kept most often"
        selections.append(selected.head(MAX_HEADS).assign(heads=count, role=role))
    return pd.concat(selections)[["ft_seed", "component", "role", "heads"]]


def _draw_figure(blocks: list[list[pd.DataFrame]], settings) -> Figure:
    """Lay out the panels by hand: matplotlib's layout of nested figures is not reproducible to the last digit."""
    label = _label_width({token for panels in blocks for panel in panels for token in panel["key_token"]})
    fitting = min(int((settings.width - 2 * MARGIN) // (2 * label + MIN_COLUMN_GAP)), MAX_COLUMNS)
    rows = [_arrange(panels, _count_columns(len(panels), fitting)) for panels in blocks]
    heights = [[max(map(_count_lines, row)) * LINE_HEIGHT for row in block] for block in rows]  # inches
    total = LEGEND_HEIGHT + sum(
        HEADING_HEIGHT + sum(TITLE_HEIGHT + height + SPACE_BELOW for height in block) for block in heights
    )
    figure = Figure(figsize=(settings.width, settings.height or total))
    _add_legend(figure, any(_is_pair(panel) for panels in blocks for panel in panels))
    top = LEGEND_HEIGHT  # inches from above, as if the figure were `total` high
    for panels, block, row_heights in zip(blocks, rows, heights, strict=True):
        figure.text(MARGIN / settings.width, 1 - top / total, _heading(panels), va="top")
        top += HEADING_HEIGHT
        column_width = (settings.width - 2 * MARGIN) / len(block[0])
        width = (column_width - 2 * label) / settings.width
        for row, row_height in zip(block, row_heights, strict=True):
            for column, panel in enumerate(row):
                height = _count_lines(panel) * LINE_HEIGHT
                left, bottom = MARGIN + column * column_width + label, top + TITLE_HEIGHT + height
                position = (left / settings.width, 1 - bottom / total, width, height / total)
                _draw_panel(figure.add_axes(position), panel)
            top += TITLE_HEIGHT + row_height + SPACE_BELOW
    return figure


def _arrange(panels: list[pd.DataFrame], columns: int) -> list[list[pd.DataFrame]]:
    """Return panels in rows of `columns`."""
    return [panels[k : k + columns] for k in range(0, len(panels), columns)]


def _count_lines(panel: pd.DataFrame) -> float:
    """Return the height of a panel, in lines of text."""
    return panel["key"].nunique() + SENTENCE_GAP


def _is_pair(panel: pd.DataFrame) -> bool:
    """Return whether the tokens of a panel are of two sentences."""
    return (panel["key_sentence"] == 1).any()


def _label_width(tokens: Collection[str]) -> float:
    """Return the width in inches of the longest of `tokens`, beside the lines."""
    extents = (TextPath((0, 0), token.replace("$", "S"), size=SMALL_FONT_SIZE).get_extents().width for token in tokens)
    return (max(extents) + 8) / 72


def _count_columns(panels: int, fitting: int) -> int:
    """Return the number of panels side by side, at most `fitting`, that fills the last row best."""
    return -(-panels // -(-panels // max(fitting, 1)))


def _line_width(probability):
    """Return the width of a line in points."""
    return 0.25 + 2.2 * probability


def _heading(panels: list[pd.DataFrame]) -> str:
    """Return the heading of a block: its seed and which heads it shows."""
    first = panels[0].iloc[0]
    count = len({panel["name"].iloc[0] for panel in panels})
    noun = "core head" if count == first["heads"] == 1 else "core heads"
    core_text = f"{count} {noun}" if count == first["heads"] else f"the first {count} of {first['heads']} {noun}"
    description = (
        core_text if first["role"] == "core" else f"no core heads; {format_count(count, 'head')} kept most often"
    )
    return f"{format_seed(first['ft_seed'])}: {description}"


def _add_legend(figure: Figure, pairs: bool) -> None:
    """Add the legend of line widths and, for pairs of sentences, of colours."""
    handles = [
        Line2D([], [], color=colour, linestyle=line, linewidth=1.5, label=name)
        for (colour, line), name in (
            (REPEATED_STYLE, "to the same word in the other sentence"),
            (OTHER_STYLE, "to other tokens"),
        )
        if pairs
    ]
    sizes = [
        Line2D([], [], color="black", linewidth=_line_width(p), label=f"probability {p:g}")
        for p in (MIN_PROBABILITY, 0.5, 1.0)
    ]
    figure.legend(handles=[*handles, *sizes], loc="upper center", ncols=5, handlelength=2.2, columnspacing=1.2)


def _draw_panel(ax: Axes, head: pd.DataFrame) -> None:
    """Draw the attention of one head: query tokens on the left, key tokens on the right, the first token on top.

    There is a line for every probability of at least `MIN_PROBABILITY`.
    """
    tokens = head.drop_duplicates("key").sort_values("key", kind="stable")
    heights = _token_heights(tokens["key_sentence"])
    lines = head[head["probability"] >= MIN_PROBABILITY].sort_values("probability", kind="stable")
    for repeated, (colour, line) in ((False, OTHER_STYLE), (True, REPEATED_STYLE)):
        drawn = lines[(lines["category"] == "repeated") == repeated]
        ends = [[(0, heights[q]), (1, heights[k])] for q, k in zip(drawn["query"], drawn["key"], strict=True)]
        widths = _line_width(drawn["probability"].to_numpy())
        ax.add_collection(LineCollection(ends, linewidths=widths, colors=colour, linestyles=[line]))
    labels = tokens["key_token"].tolist()
    ax.set(xlim=(0, 1), ylim=(heights.min() - 0.5, heights.max() + 0.5), xticks=[])
    ax.set_yticks(heights, labels, parse_math=False)
    right = ax.secondary_yaxis("right")
    right.set_yticks(heights, labels, parse_math=False)
    for axis in (ax, right):
        axis.tick_params("y", length=0, pad=2)
        axis.spines[:].set_visible(False)
    first = head.iloc[0]
    title = f"{'pair' if _is_pair(head) else 'sentence'} {first['pair'] + 1}, head {first['name']}"
    title += f", repeated: {100 * _repeated_share(head):.0f} %" if _is_pair(head) else ""
    ax.set_title(title, fontsize=SMALL_FONT_SIZE, pad=3)


def _token_heights(sentences: pd.Series) -> np.ndarray:
    """Return a height for each token, in lines, descending, with a gap before the second sentence."""
    second = (sentences == 1).fillna(False).to_numpy(dtype=bool)
    return -(np.arange(len(second)) + SENTENCE_GAP * (second.cumsum() > 0))


def _repeated_share(head: pd.DataFrame) -> float:
    """Return the mean share (0 to 1) of attention to repeated words over words; a word is the mean over its tokens."""
    head = head[head["category"].notna()]
    tokens = head.groupby("query")
    weights = 1 / tokens["category"].agg(lambda kinds: (kinds == "self").sum())
    shares = head["probability"].where(head["category"] == "repeated", 0).groupby(head["query"]).sum()
    return float((weights * shares).sum() / weights.sum())
