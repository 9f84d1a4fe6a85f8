"""Figure 6: effective size over fine-tuning, with the full model's accuracy."""

from collections.abc import Sequence

import pandas as pd
import seaborn as sns
from matplotlib.lines import Line2D

from heuristic_core.experiments.subnetworks.analysis.accuracy import compute_group_means
from heuristic_core.experiments.subnetworks.analysis.effective_size import select_study_sizes
from heuristic_core.experiments.subnetworks.analysis.size_states import BOUNDED, DEFINED, UNDEFINED, classify_sizes
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.experiments.subnetworks.figures.collapsed import (
    compute_collapse_shares,
    draw_crosses,
    make_cross_handles,
)
from heuristic_core.experiments.subnetworks.figures.roles import COLOURS, ROLES
from heuristic_core.experiments.subnetworks.figures.rows import GROUPS, ft_seeds, require_rows, resolve_subsets
from heuristic_core.figures.lines import draw_lines, legend_handles
from heuristic_core.figures.panels import make_wrapped_panels, set_percent_axis
from heuristic_core.figures.roles import Role
from heuristic_core.figures.text import format_seed
from heuristic_core.tables.columns import ACCURACY, RUN, STEP, SUBSET

MIXED_GROUPS = {"groups": "mixed-1:1", "subsets": "mixed"}
GROUP_OFFSET = 0.012  # share of the range of steps between two groups, so that equal sizes do not overlap
ACCURACY_LINEWIDTH = 0.8  # points; accuracies are drawn behind sizes
ACCURACY_LOOKS = {group: ROLES[group]._replace(marker="") for group in (*GROUPS, "j")}
BOUND_STYLE = {
    "linestyle": "",
    "markerfacecolor": "white",
    "markersize": 5,
}  # a mean that is only known to be within bounds
SEED_STYLE = {"linestyle": "", "marker": "o", "markersize": 2.5, "markeredgewidth": 0.6, "alpha": 0.7}
VACUOUS_BOUNDS = {"least": 0.0, "most": 100.0}  # percent: the value at which each end is no bound
FLOOR_STYLE = {"color": "0.5", "linestyle": ":", "linewidth": 0.9}


def draw(tables, settings, context):
    """Draw a panel for each fine-tuning seed, of effective sizes at the study's margin.

    Args:
        tables: Data frames by schema name: "effective_size" and "finetune_accuracy", and "runs" if the study has it.
        settings: The target's ``config.figure.Figure``.
        context: The study's ``config.context.Context``.

    Returns:
        The figure and its marks, one row per point of either axis. `seed` is null for means over pruning seeds. `state`
        of a size is defined, bounded (between `least` and `most`), undefined (the full model does not exceed the
        margin) or missing.
    """
    groups = (*GROUPS, MIXED_GROUPS[context.mixed], "j", "auc")
    sizes = _select_sizes(tables["effective_size"], groups, context)
    sizes = sizes.join(compute_collapse_shares(tables, context), on=["ft_seed", "step"])
    trace = require_rows(tables["finetune_accuracy"], "rows in table finetune_accuracy")
    trace = trace[trace["subset"].notna()]
    accuracies = compute_group_means(trace[[*RUN, *STEP, *SUBSET, *ACCURACY]], resolve_subsets(settings, context))
    looks = {group: ROLES[group] for group in groups if group in set(sizes["group"])}
    seeds = ft_seeds(sizes)
    figure, axes = make_wrapped_panels(settings, len(seeds), 3.3, sharex=True, sharey=True)
    offset = GROUP_OFFSET * (accuracies["step"].max() - accuracies["step"].min())
    for k, (ax, ft_seed) in enumerate(zip(axes, seeds, strict=True)):
        right = ax.twinx()
        sns.despine(ax=right, right=False)
        accuracy_rows = accuracies[accuracies["ft_seed"] == ft_seed]
        draw_lines(right, accuracy_rows, "step", "accuracy", "group", ACCURACY_LOOKS, linewidth=ACCURACY_LINEWIDTH)
        set_percent_axis(right.yaxis, accuracies["accuracy"])
        _draw_sizes(ax, sizes[sizes["ft_seed"] == ft_seed], looks, offset)
        ax.set_zorder(right.get_zorder() + 1)  # sizes are drawn over accuracies
        ax.patch.set_visible(False)
        ax.set_title(format_seed(ft_seed), loc="left")
        ax.set(xlabel="fine-tuning step", ylabel="effective size (%)")
        ax.label_outer()
        last = k % 2 == 1 or k == len(seeds) - 1
        right.set_ylabel("full model: accuracy (%), J" if last else "")
        right.tick_params(labelright=last)
    _add_legends(figure, looks, context, sizes)
    values = accuracies.rename(columns={"accuracy": "value"}).assign(quantity="full_accuracy")
    points = sizes.rename(columns={"effective_size": "value"}).assign(quantity="effective_size")
    columns = ["ft_seed", "quantity", "group", "step", "seed", "value", "least", "most", "low", "high", "sd", "n_seeds"]
    return figure, pd.concat([points, values]).reindex(columns=[*columns, "floor", "state", "reason", "collapsed"])


def _select_sizes(table: pd.DataFrame, groups: Sequence[str], context: Context) -> pd.DataFrame:
    """Select sizes at the study's margin and in its order, by pruning seed and summarised, and add their state."""
    rows = select_study_sizes(table, context)
    rows = rows[rows["group"].isin(groups)]
    description = f"summaries of order {context.size_order} at a margin of {context.margin} points"
    require_rows(rows[rows["seed"].isna()], f"{description} in table effective_size")
    return rows.assign(state=classify_sizes(rows)).sort_values("step", kind="stable")


def _draw_sizes(ax, sizes: pd.DataFrame, looks: dict[str, Role], offset: float) -> None:
    """Draw the effective sizes of one fine-tuning seed.

    Means are lines, broken at nulls, with pruning seeds beside them. Bounds are hollow markers, undefined sizes are
    crosses on the axis, and the floor of the grid is a horizontal line.
    """
    for floor in sizes["floor"].dropna().unique():
        ax.axhline(floor, **FLOOR_STYLE)
    place = {group: (k - (len(looks) - 1) / 2) * offset for k, group in enumerate(looks)}
    sizes = sizes.assign(x=sizes["step"] + sizes["group"].map(place))
    means, seeds = sizes[sizes["seed"].isna()], sizes[sizes["seed"].notna()]
    draw_lines(ax, means, "x", "effective_size", "group", looks)
    bounded = means[means["state"] == BOUNDED]
    defined = means[means["state"] == DEFINED]
    for rows, ends in ((bounded, ("least", "most")), (defined, ("low", "high"))):
        ax.vlines("x", *ends, colors=rows["group"].map(COLOURS), linewidth=0.8, data=rows)
    for group, role in looks.items():
        group_seeds = seeds[seeds["group"] == group]
        ax.plot(
            "x", "effective_size", color=role.colour, **SEED_STYLE, data=group_seeds[group_seeds["state"] != BOUNDED]
        )
        for end, vacuous in VACUOUS_BOUNDS.items():
            mean_rows, seed_rows = (
                rows[(rows["group"] == group) & (rows[end] != vacuous)] for rows in (bounded, seeds)
            )
            seed_rows = seed_rows[seed_rows["state"] == BOUNDED]
            ax.plot("x", end, color=role.colour, **SEED_STYLE | {"markerfacecolor": "none"}, data=seed_rows)
            ax.plot("x", end, color=role.colour, marker=role.marker, **BOUND_STYLE, data=mean_rows)
    # Collapsed subnetworks are not faithful, so a size says little if most of them collapsed.
    mostly_collapsed = means[(means["collapsed"] > 0.5) & means["effective_size"].notna()]
    draw_crosses(ax, mostly_collapsed["x"], mostly_collapsed["effective_size"])
    undefined = means[means["state"] == UNDEFINED].assign(y=0)
    ax.scatter("x", "y", c=undefined["group"].map(COLOURS), marker="x", s=25, linewidth=1.2, zorder=3, data=undefined)
    set_percent_axis(ax.yaxis)


def _add_legends(figure, looks: dict[str, Role], context: Context, sizes: pd.DataFrame) -> None:
    """Add the legends of both axes."""
    grey = {"color": "0.3", "linestyle": ""}
    undefined = f"undefined: full model not clearly above {context.margin:g} %"
    entries = [
        *legend_handles(looks),
        Line2D([], [], marker="x", markeredgewidth=1.2, label=undefined, **grey),
        Line2D([], [], **FLOOR_STYLE, label="floor of the grid"),
        *make_cross_handles((sizes["collapsed"] > 0.5).any(), "most subnetworks collapsed"),
    ]
    if sizes["seed"].notna().any():
        entries.append(Line2D([], [], label="pruning seeds", **SEED_STYLE | grey))
    if (sizes["state"] == BOUNDED).any():
        entries.append(Line2D([], [], marker="o", label="no more than bounds known", **BOUND_STYLE | grey))
    title = f"effective size (left axis), margin {context.margin:g} points: {_describe_order(context)}"
    figure.legend(handles=entries, loc="outside upper left", ncols=3, title=title, alignment="left")
    accuracies = legend_handles(
        {group: look for group, look in ACCURACY_LOOKS.items() if group in looks}, linewidth=ACCURACY_LINEWIDTH
    )
    title = "full model: accuracy and J (right axis)"
    figure.legend(handles=accuracies, loc="outside lower left", ncols=4, title=title, alignment="left")


def _describe_order(context: Context) -> str:
    """Describe the order of averaging and thresholding, as in "mean of 3 pruning seeds, interval or bounds"."""
    seeds = f"{len(context.curve_seeds)} pruning seeds"
    words = {
        "per-seed": f"mean of {seeds}, interval or bounds",
        "mean-first": f"of the mean accuracy of {seeds}",
        "upward": f"searched from dense, mean of {seeds}, interval or bounds",
    }[context.size_order]
    return f"{words}; sizes of the grid" if context.size_rule == "grid" else words
