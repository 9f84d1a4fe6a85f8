"""Figure 6: the full model's accuracy over fine-tuning, and effective sizes below it."""

from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from heuristic_core.config.figure import Figure
from heuristic_core.experiments.subnetworks.analysis.accuracy import compute_group_means
from heuristic_core.experiments.subnetworks.analysis.effective_size import select_study_sizes
from heuristic_core.experiments.subnetworks.analysis.size_states import BOUNDED, UNDEFINED, classify_sizes
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.experiments.subnetworks.figures.collapsed import (
    compute_collapse_shares,
    draw_crosses,
    make_cross_handles,
)
from heuristic_core.experiments.subnetworks.figures.roles import ROLES
from heuristic_core.experiments.subnetworks.figures.rows import ft_seeds, require_rows, resolve_subsets
from heuristic_core.experiments.subnetworks.figures.seed_points import (
    HATCH,
    MEAN_STYLE,
    SEED_STYLE,
    hatch_undefined,
    mark_checkpoints,
    space_groups,
    spread_seeds,
)
from heuristic_core.figures.drawing import Drawing, Tables
from heuristic_core.figures.lines import draw_lines
from heuristic_core.figures.panels import make_panels, set_percent_axis
from heuristic_core.figures.roles import Role
from heuristic_core.figures.text import format_seed
from heuristic_core.tables.columns import ACCURACY, RUN, STEP, SUBSET

MIXED_GROUPS = {"groups": "mixed-1:1", "subsets": "mixed"}
ACCURACY_GROUPS = ("id", "ood", "j")
ENTAILMENT_MODEL = "gpt2"  # whose figure the paper draws with a third line
BOUND_STYLE = SEED_STYLE | {"markerfacecolor": "white", "markersize": 4.2}
# End of the range of possible sizes -> the value at which it is no bound (percent), its marker, and its name.
BOUNDS = {"most": (100.0, "v", "at most"), "least": (0.0, "^", "above")}
FLOOR_STYLE = {"color": "0.5", "linestyle": ":", "linewidth": 0.9}
MARKS = ["ft_seed", "quantity", "group", "step", "seed", "value", "least", "most", "n_seeds", "floor", "state"]


def draw(tables: Tables, settings: Figure, context: Context) -> Drawing:
    """Draw two panels for each fine-tuning seed: the full model's accuracies, and sizes at the study's margin.

    Args:
        tables: Data frames by schema name: "effective_size" and "finetune_accuracy", and "runs" if the study has it.
        settings: The target's ``config.figure.Figure``.
        context: The study's ``config.context.Context``.

    Returns:
        The figure and its marks, one row per point. `seed` is null for means over pruning seeds. `state` of a size is
        defined, bounded (between `least` and `most`), undefined (the full model does not exceed the margin) or missing.
    """
    entailment = ["ood-entailment"] if context.counterpart.model == ENTAILMENT_MODEL else []
    groups = ("id", "ood", *entailment, MIXED_GROUPS[context.mixed])
    sizes = _select_sizes(tables["effective_size"], groups, context)
    sizes = sizes.join(compute_collapse_shares(tables, context), on=["ft_seed", "step"])
    trace = require_rows(tables["finetune_accuracy"], "rows in table finetune_accuracy")
    trace = trace[trace["subset"].notna()]
    accuracies = compute_group_means(trace[[*RUN, *STEP, *SUBSET, *ACCURACY]], resolve_subsets(settings, context))
    curves = {group: ROLES[group]._replace(marker="") for group in (*ACCURACY_GROUPS, *entailment)}
    accuracies = accuracies[accuracies["group"].isin(list(curves))]
    looks = {group: ROLES[group]._replace(marker="_", line="-") for group in groups if group in set(sizes["group"])}
    seeds = ft_seeds(sizes)
    columns = min(len(seeds), 2)
    rows = -(-len(seeds) // columns)
    options = {"sharex": True, "sharey": "row", "height_ratios": [1, 1.35] * rows}
    figure, axes = make_panels(settings, 2 * rows, columns, 3.4 * rows + 0.5, **options)
    for unused in axes[-2:, 1 + (len(seeds) - 1) % columns :].flat:
        unused.remove()
    spacing = space_groups(accuracies["step"].max() - accuracies["step"].min(), sizes["step"])
    for k, ft_seed in enumerate(seeds):
        row, column = 2 * (k // columns), k % columns
        above, below = axes[row : row + 2, column]
        draw_lines(above, accuracies[accuracies["ft_seed"] == ft_seed], "step", "accuracy", "group", curves)
        set_percent_axis(above.yaxis, accuracies["accuracy"])
        _draw_sizes(below, sizes[sizes["ft_seed"] == ft_seed], looks, spacing)
        above.set_title(format_seed(ft_seed), loc="left")
        above.set(ylabel="" if column else "full model:\naccuracy (%), J", xlabel="")
        below.set(ylabel="" if column else "effective size (%)", xlabel="fine-tuning step")
    drawn_curves = {group: look for group, look in curves.items() if group in set(accuracies["group"])}
    _add_legends(figure, looks, drawn_curves, context, sizes)
    values = accuracies.rename(columns={"accuracy": "value"}).assign(quantity="full_accuracy")
    points = sizes.rename(columns={"effective_size": "value"}).assign(quantity="effective_size")
    return figure, pd.concat([points, values]).reindex(columns=[*MARKS, "reason", "collapsed"])


def _select_sizes(table: pd.DataFrame, groups: Sequence[str], context: Context) -> pd.DataFrame:
    """Select sizes at the study's margin and in its order, by pruning seed and summarised, and add their state."""
    rows = select_study_sizes(table, context)
    rows = rows[rows["group"].isin(groups)]
    description = f"summaries of order {context.size_order} at a margin of {context.margin} points"
    require_rows(rows[rows["seed"].isna()], f"{description} in table effective_size")
    return rows.assign(state=classify_sizes(rows)).sort_values("step", kind="stable")


def _draw_sizes(ax: Axes, sizes: pd.DataFrame, looks: dict[str, Role], spacing: float) -> None:
    """Draw the effective sizes of one fine-tuning seed.

    Dashes are means, connected by lines that break at nulls. Points are pruning seeds, hollow where only a bound is
    known. Undefined sizes are hatched, and the floor of the grid is a horizontal line.
    """
    for floor in sizes["floor"].dropna().unique():
        ax.axhline(floor, **FLOOR_STYLE, zorder=0)
    mark_checkpoints(ax, sizes["step"])
    place = {group: (k - (len(looks) - 1) / 2) * spacing for k, group in enumerate(looks)}
    sizes = sizes.assign(x=sizes["step"] + sizes["group"].map(place))
    means, seeds = sizes[sizes["seed"].isna()], sizes[sizes["seed"].notna()]
    for group, role in looks.items():
        undefined = means[(means["group"] == group) & (means["state"] == UNDEFINED)]
        hatch_undefined(ax, undefined["x"], spacing, role.colour)
        single = seeds[seeds["group"] == group]
        bounded = single[single["state"] == BOUNDED]
        if single.empty:  # the size of a mean over seeds
            bounded = means[(means["group"] == group) & (means["state"] == BOUNDED)]
        x = spread_seeds(single, spacing)
        ax.plot(x, single["effective_size"], color=role.colour, **SEED_STYLE, zorder=3)
        for end, (vacuous, marker, _) in BOUNDS.items():
            rows = bounded[bounded[end] != vacuous]
            x = spread_seeds(single, spacing).reindex(rows.index).fillna(rows["x"])
            ax.plot(x, rows[end], color=role.colour, **BOUND_STYLE | {"marker": marker}, zorder=3)
    draw_lines(ax, means, "x", "effective_size", "group", looks, **MEAN_STYLE)
    # Collapsed subnetworks are not faithful, so a size says little if most of them collapsed.
    mostly_collapsed = means[(means["collapsed"] > 0.5) & means["effective_size"].notna()]
    draw_crosses(ax, mostly_collapsed["x"], mostly_collapsed["effective_size"])
    set_percent_axis(ax.yaxis)


def _add_legends(figure, looks: dict[str, Role], curves: dict[str, Role], context: Context, sizes) -> None:
    """Add the legends of both rows of panels."""
    grey = {"color": "0.3", "linestyle": ""}
    states, seeds = set(sizes["state"]), sizes["seed"].notna().any()
    entries = [Patch(color=look.colour, label=look.label) for look in (curves | looks).values()]
    figure.legend(handles=entries, loc="outside upper left", ncols=len(entries), handlelength=1.2)
    entries = [Line2D([], [], **grey | MEAN_STYLE | {"linestyle": "-"}, label=_describe_order(context))]
    entries += [Line2D([], [], label="pruning seed", **grey | SEED_STYLE)] if seeds else []
    if BOUNDED in states:
        names = BOUNDS.values()
        entries += [Line2D([], [], **grey | BOUND_STYLE | {"marker": m}, label=name) for _, m, name in names]
    if UNDEFINED in states:
        undefined = f"undefined: full model not above {context.margin:g} %"
        entries.append(Patch(fill=False, hatch=HATCH, edgecolor="0.3", linewidth=0, label=undefined))
    entries.append(Line2D([], [], **FLOOR_STYLE, label="floor of the grid"))
    entries += make_cross_handles((sizes["collapsed"] > 0.5).any(), "most subnetworks collapsed")
    title = f"effective size, margin {context.margin:g} points"
    figure.legend(handles=entries, loc="outside lower left", ncols=4, handlelength=1.6, title=title, alignment="left")


def _describe_order(context: Context) -> str:
    """Describe the order of averaging and thresholding, as in "mean of 3 pruning seeds"."""
    seeds = f"{len(context.curve_seeds)} pruning seeds"
    words = {
        "per-seed": f"mean of {seeds}",
        "mean-first": f"of the mean accuracy of {seeds}",
        "upward": f"searched from dense, mean of {seeds}",
    }[context.size_order]
    return f"{words}; sizes of the grid" if context.size_rule == "grid" else words
