"""When, in pre-training, heads learn to attend to the repeated word and the model to restore masked words from it."""

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes

from heuristic_core.config.figure import Figure
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.experiments.subnetworks.figures.rows import require_rows
from heuristic_core.figures.drawing import Drawing, Tables
from heuristic_core.figures.lines import draw_lines, legend_handles
from heuristic_core.figures.panels import make_panels, set_percent_axis, spread_labels
from heuristic_core.figures.roles import Role
from heuristic_core.figures.style import SMALL_FONT_SIZE

NAMED_HEADS = 9  # heads with a label and a layer's colour: the largest shares at the end of pre-training
OTHER_COLOUR = "0.8"  # of the other heads
RESTORED = {
    "copied": Role("in the other sentence, too", "black"),
    "other": Role("in one sentence alone", "black", line="--"),
}


def draw(tables: Tables, settings: Figure, context: Context) -> Drawing:
    """Draw a line for each head (left) and for each kind of masked word (right).

    Args:
        tables: Data frames by schema name: "pretraining_attention" and "pretraining_trace".
        settings: The target's ``config.figure.Figure``.
        context: Not used; every target takes it.

    Returns:
        The figure and its marks: one row per point, `name` being a head or a kind of masked word.
    """
    attention = require_rows(tables["pretraining_attention"], "rows in table pretraining_attention")
    repeated = attention[attention["category"] == "repeated"].sort_values(["component", "pretraining_step"])
    repeated = repeated.assign(percent=100 * repeated["share"])
    trace = require_rows(tables["pretraining_trace"], "rows in table pretraining_trace").sort_values(
        "pretraining_step", kind="stable"
    )
    restored = trace.melt("pretraining_step", list(RESTORED), var_name="name", value_name="percent")
    figure, axes = make_panels(settings, 1, 2, 2.8)
    _draw_heads(axes[0, 0], repeated)
    _draw_restored(axes[0, 1], restored)
    for ax in axes.flat:
        ax.set_xlabel("pre-training step")
    shares = repeated[["pretraining_step", "name", "percent"]]
    marks = {"attention to the repeated word": shares, "masked words restored": restored}
    return figure, pd.concat([rows.assign(what=what) for what, rows in marks.items()], ignore_index=True)


def _draw_heads(ax: Axes, repeated: pd.DataFrame) -> None:
    """Draw attention to the repeated word by head; named heads of a layer share a colour."""
    named = repeated.drop_duplicates("name", keep="last").nlargest(NAMED_HEADS, "percent")
    is_named = repeated["name"].isin(named["name"])
    layers = sorted(named["layer"].unique())
    colours = sns.color_palette("viridis", as_cmap=True)(np.linspace(0, 0.85, len(layers)))
    looks = {layer: Role(f"layer {layer}", tuple(colour)) for layer, colour in zip(layers, colours, strict=True)}
    others = {"other": Role("other heads", OTHER_COLOUR)}
    unnamed = repeated[~is_named].assign(layer="other")
    draw_lines(ax, unnamed, "pretraining_step", "percent", "layer", others, unit="name", linewidth=0.6)
    draw_lines(ax, repeated[is_named], "pretraining_step", "percent", "layer", looks, unit="name", linewidth=1.1)
    top = 1.4 * repeated["percent"].max()  # room for the legend
    ax.set(ylim=(0, top), xlim=(0, repeated["pretraining_step"].max()))
    for head, height in zip(named.itertuples(), spread_labels(named["percent"], top / 25, top), strict=True):
        text_style = {
            "textcoords": ax.get_yaxis_transform(),
            "va": "center",
            "fontsize": SMALL_FONT_SIZE,
            "annotation_clip": False,
        }
        ax.annotate(head.name, (0, 0), (1.01, height), color=looks[head.layer].colour, **text_style)
    ax.legend(
        handles=legend_handles(looks | (others if len(unnamed) else {}), linewidth=1.1), loc="upper left", ncols=3
    )
    ax.set_ylabel("attention to the repeated word (%)")
    ax.set_title("every head", loc="left")


def _draw_restored(ax: Axes, restored: pd.DataFrame) -> None:
    """Draw the percentage of masked words restored."""
    draw_lines(ax, restored, "pretraining_step", "percent", "name", RESTORED)
    set_percent_axis(ax.yaxis)
    ax.legend(handles=legend_handles(RESTORED), loc="upper left")
    ax.set_ylabel("restored (%)")
    ax.set_title("masked words, held out", loc="left")
