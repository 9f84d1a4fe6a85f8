"""Figure 6: effective size over fine-tuning, with the full model's accuracy."""

from collections.abc import Sequence

import pandas as pd
import seaborn as sns
from matplotlib.lines import Line2D

from heuristic_core.experiments.heuristic_core.analysis.accuracy import group_means
from heuristic_core.experiments.heuristic_core.analysis.effective_size import (
    BOUNDED,
    DEFINED,
    UNDEFINED,
    of_study,
    state,
)
from heuristic_core.experiments.heuristic_core.config.context import Context
from heuristic_core.experiments.heuristic_core.figures.collapsed import collapses, crossed, crosses
from heuristic_core.experiments.heuristic_core.figures.roles import COLOURS, ROLES
from heuristic_core.experiments.heuristic_core.figures.rows import GROUPS, ft_seeds, shown, some
from heuristic_core.figures.lines import handles, lines
from heuristic_core.figures.panels import percent_axis, wrapped
from heuristic_core.figures.roles import Role
from heuristic_core.figures.text import seed_label
from heuristic_core.tables.columns import ACCURACY, RUN, STEP, SUBSET

MIXED = {"groups": "mixed-1:1", "subsets": "mixed"}
APART = 0.012  # of the range of steps: groups are set apart where their sizes are equal
THIN = 0.8  # points; accuracies are the background of sizes
ACCURACIES = {group: ROLES[group]._replace(marker="") for group in (*GROUPS, "j")}
OPEN = {"linestyle": "", "markerfacecolor": "white", "markersize": 5}  # a mean of which only bounds are known
SEED = {"linestyle": "", "marker": "o", "markersize": 2.5, "markeredgewidth": 0.6, "alpha": 0.7}
BOUNDS = {"least": 0.0, "most": 100.0}  # each end, and where it says nothing
FLOOR = {"color": "0.5", "linestyle": ":", "linewidth": 0.9}


def draw(tables, settings, context):
    """A panel for each fine-tuning seed, of the sizes that the study takes. Marks: one row per point of either axis.

    `seed` is null for means over pruning seeds. `state` of a size is defined, bounded (between `least` and `most`),
    undefined (the full model does not exceed the margin) or missing.
    """
    shown_groups = (*GROUPS, MIXED[context.mixed], "j", "auc")
    sizes = _sizes(tables["effective_size"], shown_groups, context)
    sizes = sizes.join(collapses(tables, context), on=["ft_seed", "step"])
    trace = some(tables["finetune_accuracy"], "rows in table finetune_accuracy")
    accuracies = group_means(trace[[*RUN, *STEP, *SUBSET, *ACCURACY]], shown(settings, context))
    looks = {group: ROLES[group] for group in shown_groups if group in set(sizes["group"])}
    seeds = ft_seeds(sizes)
    figure, axes = wrapped(settings, len(seeds), 3.3, sharex=True, sharey=True)
    apart = APART * (accuracies["step"].max() - accuracies["step"].min())
    for k, (ax, ft_seed) in enumerate(zip(axes, seeds, strict=True)):
        right = ax.twinx()
        sns.despine(ax=right, right=False)
        of_seed = accuracies[accuracies["ft_seed"] == ft_seed]
        lines(right, of_seed, "step", "accuracy", "group", ACCURACIES, linewidth=THIN)
        percent_axis(right.yaxis, accuracies["accuracy"])
        _size_lines(ax, sizes[sizes["ft_seed"] == ft_seed], looks, apart)
        ax.set_zorder(right.get_zorder() + 1)  # sizes are drawn over accuracies
        ax.patch.set_visible(False)
        ax.set_title(seed_label(ft_seed), loc="left")
        ax.set(xlabel="fine-tuning step", ylabel="effective size (%)")
        ax.label_outer()
        last = k % 2 == 1 or k == len(seeds) - 1
        right.set_ylabel("full model: accuracy (%), J" if last else "")
        right.tick_params(labelright=last)
    _legends(figure, looks, context, sizes)
    values = accuracies.rename(columns={"accuracy": "value"}).assign(quantity="full_accuracy")
    points = sizes.rename(columns={"effective_size": "value"}).assign(quantity="effective_size")
    columns = ["ft_seed", "quantity", "group", "step", "seed", "value", "least", "most", "low", "high", "sd", "n_seeds"]
    return figure, pd.concat([points, values]).reindex(columns=[*columns, "floor", "state", "reason", "collapsed"])


def _sizes(table: pd.DataFrame, groups: Sequence[str], context: Context) -> pd.DataFrame:
    """Sizes at the study's margin and in its order, of each pruning seed and of all, each with its state."""
    rows = of_study(table, context)
    rows = rows[rows["group"].isin(groups)]
    what = f"summaries of order {context.size_order} at a margin of {context.margin} points"
    some(rows[rows["seed"].isna()], f"{what} in table effective_size")
    return rows.assign(state=state(rows)).sort_values("step", kind="stable")


def _size_lines(ax, sizes: pd.DataFrame, looks: dict[str, Role], apart: float) -> None:
    """Lines over means, broken where one is null, and pruning seeds beside them; bounds; crosses on the axis where a
    size is undefined; the floor of the grid."""
    for floor in sizes["floor"].dropna().unique():
        ax.axhline(floor, **FLOOR)
    place = {group: (k - (len(looks) - 1) / 2) * apart for k, group in enumerate(looks)}
    sizes = sizes.assign(x=sizes["step"] + sizes["group"].map(place))
    means, seeds = sizes[sizes["seed"].isna()], sizes[sizes["seed"].notna()]
    lines(ax, means, "x", "effective_size", "group", looks)
    bounded = means[means["state"] == BOUNDED]
    known = means[means["state"] == DEFINED]
    for rows, ends in ((bounded, ("least", "most")), (known, ("low", "high"))):
        ax.vlines("x", *ends, colors=rows["group"].map(COLOURS), linewidth=0.8, data=rows)
    for group, role in looks.items():
        own = seeds[seeds["group"] == group]
        ax.plot("x", "effective_size", color=role.colour, **SEED, data=own[own["state"] != BOUNDED])
        for end, nothing in BOUNDS.items():
            of_mean, of_seeds = (rows[(rows["group"] == group) & (rows[end] != nothing)] for rows in (bounded, seeds))
            of_seeds = of_seeds[of_seeds["state"] == BOUNDED]
            ax.plot("x", end, color=role.colour, **SEED | {"markerfacecolor": "none"}, data=of_seeds)
            ax.plot("x", end, color=role.colour, marker=role.marker, **OPEN, data=of_mean)
    # Collapsed subnetworks are not faithful: where most are, a size says little.
    lost = means[(means["collapsed"] > 0.5) & means["effective_size"].notna()]
    crosses(ax, lost["x"], lost["effective_size"])
    undefined = means[means["state"] == UNDEFINED].assign(y=0)
    ax.scatter("x", "y", c=undefined["group"].map(COLOURS), marker="x", s=25, linewidth=1.2, zorder=3, data=undefined)
    percent_axis(ax.yaxis)


def _legends(figure, looks: dict[str, Role], context: Context, sizes: pd.DataFrame) -> None:
    grey = {"color": "0.3", "linestyle": ""}
    undefined = f"undefined: full model not clearly above {context.margin:g} %"
    entries = [
        *handles(looks),
        Line2D([], [], marker="x", markeredgewidth=1.2, label=undefined, **grey),
        Line2D([], [], **FLOOR, label="floor of the grid"),
        *crossed((sizes["collapsed"] > 0.5).any(), "most subnetworks collapsed"),
    ]
    if sizes["seed"].notna().any():
        entries.append(Line2D([], [], label="pruning seeds", **SEED | grey))
    if (sizes["state"] == BOUNDED).any():
        entries.append(Line2D([], [], marker="o", label="no more than bounds known", **OPEN | grey))
    title = f"effective size (left axis), margin {context.margin:g} points: {_order(context)}"
    figure.legend(handles=entries, loc="outside upper left", ncols=3, title=title, alignment="left")
    accuracies = handles({group: look for group, look in ACCURACIES.items() if group in looks}, linewidth=THIN)
    title = "full model: accuracy and J (right axis)"
    figure.legend(handles=accuracies, loc="outside lower left", ncols=4, title=title, alignment="left")


def _order(context: Context) -> str:
    """Such as "mean of 3 pruning seeds, interval or bounds"."""
    seeds = f"{len(context.curve_seeds)} pruning seeds"
    words = {
        "per-seed": f"mean of {seeds}, interval or bounds",
        "mean-first": f"of the mean accuracy of {seeds}",
        "upward": f"searched from dense, mean of {seeds}, interval or bounds",
    }[context.size_order]
    return f"{words}; sizes of the grid" if context.size_rule == "grid" else words
