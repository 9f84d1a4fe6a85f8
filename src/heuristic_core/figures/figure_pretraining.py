"""When, in pre-training, heads come to attend to the repeated word, and masked words are restored from it."""

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from heuristic_core.figures.panels import panels, percent_axis, spread_out
from heuristic_core.figures.rows import some
from heuristic_core.figures.style import SMALL

NAMED = 8  # heads that are named, those with the largest shares at the end
RESTORED = {"copied": ("in the other sentence, too", "-"), "other": ("in one sentence alone", "--")}


def draw(tables, settings, context):
    """Left a line for each head, right one for each kind of masked word. Marks: one row per point, name or kind."""
    attention = some(tables["pretraining_attention"], "rows in table pretraining_attention")
    repeated = attention[attention["category"] == "repeated"].sort_values(["component", "pretraining_step"])
    trace = some(tables["pretraining_trace"], "rows in table pretraining_trace").sort_values(
        "pretraining_step", kind="stable"
    )
    figure, axes = panels(settings, 1, 2, 2.8)
    _heads(axes[0, 0], repeated)
    _restored(axes[0, 1], trace)
    for ax in axes.flat:
        ax.set_xlabel("pre-training step")
    shares = repeated.assign(percent=100 * repeated["share"])[["pretraining_step", "name", "percent"]]
    found = trace.melt("pretraining_step", list(RESTORED), var_name="name", value_name="percent")
    marks = {"attention to the repeated word": shares, "masked words restored": found}
    return figure, pd.concat([rows.assign(what=what) for what, rows in marks.items()], ignore_index=True)


def _heads(ax: Axes, repeated: pd.DataFrame) -> None:
    """Heads of one layer share a colour."""
    layers = sorted(repeated["layer"].unique())
    colours = dict(zip(layers, matplotlib.colormaps["viridis"](np.linspace(0, 0.85, len(layers))), strict=True))
    ends = []
    for (layer, name), head in repeated.groupby(["layer", "name"]):
        ax.plot(head["pretraining_step"].astype(float), 100 * head["share"], color=colours[layer], linewidth=1)
        ends.append((100 * head["share"].iloc[-1], name, colours[layer]))
    named = sorted(ends, reverse=True, key=lambda end: end[0])[:NAMED]
    top = 1.4 * 100 * repeated["share"].max()  # room for the legend
    ax.set_ylim(0, top)
    for (_, name, colour), height in zip(named, spread_out([end[0] for end in named], top / 28, top), strict=True):
        where = {"textcoords": ax.get_yaxis_transform(), "va": "center", "fontsize": SMALL, "annotation_clip": False}
        ax.annotate(name, (0, 0), (1.01, height), color=colour, **where)
    for layer in layers:
        ax.plot([], [], color=colours[layer], label=f"layer {layer}")
    ax.legend(loc="upper left", ncols=2)
    ax.set_ylabel("attention to the repeated word (%)")
    ax.set_title("every head", loc="left")


def _restored(ax: Axes, trace: pd.DataFrame) -> None:
    for column, (label, line) in RESTORED.items():
        ax.plot(trace["pretraining_step"].astype(float), trace[column], color="black", linestyle=line, label=label)
    percent_axis(ax.yaxis)
    ax.legend(loc="upper left")
    ax.set_ylabel("restored (%)")
    ax.set_title("masked words, held out", loc="left")
