"""How heads attend by the distance in value, at the end of training."""

import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from heuristic_core.experiments.list_sorting.figures.looks import HEADS, conditions
from heuristic_core.experiments.list_sorting.modes import MODEL, last, roles
from heuristic_core.figures.lines import handles
from heuristic_core.figures.panels import panels
from heuristic_core.figures.seeds import BOLD, THIN, seed_lines, with_means

KEYS = {"list": "keys in the list", "sorted": "keys among the sorted numbers"}
BY = ["condition", "role", "keys", "distance"]


def draw(tables, settings):
    """Rows: conditions; columns: where keys are. Marks: one row per point; `value` is a mean share of attention."""
    points = with_means(_by_role(tables), BY)
    names = conditions(points)
    height = 1.4 * len(names) + 0.6
    figure, axes = panels(settings, len(names), len(KEYS), height, sharey=True, width_ratios=(3, 2))
    for row, name in zip(axes, names, strict=True):
        of_condition = points[points["condition"] == name]
        for ax, (keys, words) in zip(row, KEYS.items(), strict=True):
            of_panel = of_condition[of_condition["keys"] == keys]
            seed_lines(ax, of_panel, "distance", "role", HEADS)
            ax.axvline(0, color="0.7", linewidth=0.6, zorder=0)
            ax.set_title(words, loc="left")
            ax.set(xlabel="", ylabel="")
            ax.xaxis.set_major_locator(MaxNLocator(6, integer=True))
        row[0].set_title(f"{name}: {KEYS['list']}", loc="left")
        row[0].set_ylabel("share of attention")
    for ax in axes[-1]:
        ax.set_xlabel("the key's number less the query's")
    axes[0, 0].set_ylim(bottom=0)
    shown = {role: look for role, look in HEADS.items() if role in set(points["role"])}
    lines = [*handles(shown, **BOLD), Line2D([], [], color="black", label="one seed", **THIN)]
    figure.legend(handles=lines, loc="outside upper center", ncols=len(lines))
    return figure, points


def _by_role(tables) -> pd.DataFrame:
    """Attention of every seed by the role of the head; several other heads are averaged."""
    rows = last(tables["sorting_distance"])
    of_heads = roles(last(tables["sorting_heads"]))[[*MODEL, "head", "role"]]
    rows = rows.merge(of_heads, on=[*MODEL, "head"], validate="many_to_one").rename(columns={"attention": "value"})
    return rows.groupby([*BY, "seed"], sort=False, as_index=False)["value"].mean()
