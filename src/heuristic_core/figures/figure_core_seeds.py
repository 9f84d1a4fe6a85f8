"""How many heads all subnetworks share, against how many subnetworks there are: does the core settle?"""

from typing import NamedTuple

import pandas as pd

from heuristic_core.figures.panels import wrapped
from heuristic_core.figures.rows import ft_seeds, some
from heuristic_core.figures.text import seed_label


class Line(NamedTuple):
    """How a set of subnetworks looks."""

    label: str
    colour: str
    marker: str


# Okabe and Ito's palette, without the colours of groups of subsets.
LINES = {
    "high": Line("high sparsity", "#56B4E9", "v"),
    "mid": Line("mid sparsity", "#E69F00", "o"),
    "mid+high": Line("both (core)", "black", "D"),
}
COLUMNS = ["ft_seed", "set", "seeds", "heads", "sd", "expected", "choices"]


def draw(tables, settings, context):
    """A panel for each fine-tuning seed. Marks: one row per point."""
    points = some(tables["core_seeds"], "rows in table core_seeds").sort_values(["ft_seed", "set", "seeds"])
    seeds = ft_seeds(points)
    figure, axes = wrapped(settings, len(seeds), 2.6, sharex=True, sharey=True)
    for ax, ft_seed in zip(axes, seeds, strict=True):
        _panel(ax, points[points["ft_seed"] == ft_seed])
        ax.set_title(seed_label(ft_seed), loc="left")
        ax.set_xlabel("pruning seeds whose subnetworks are compared")
        ax.set_ylabel("heads kept by all of them")
        ax.label_outer()
    axes[0].set_ylim(bottom=0)
    for axis in (axes[0].xaxis, axes[0].yaxis):
        axis.get_major_locator().set_params(integer=True)
    title = "mean over choices of seeds, band: standard deviation over choices; dashed: heads permuted within layers"
    handles, names = axes[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=len(handles), title=title)
    return figure, points[COLUMNS]


def _panel(ax, points: pd.DataFrame) -> None:
    for name, (label, colour, marker) in LINES.items():
        line = points[points["set"] == name]
        x = line["seeds"].astype(float)
        ax.fill_between(x, line["heads"] - line["sd"], line["heads"] + line["sd"], color=colour, alpha=0.2, linewidth=0)
        ax.plot(x, line["heads"], color=colour, marker=marker, label=label)
        ax.plot(x, line["expected"], color=colour, linestyle="--", linewidth=0.9)
